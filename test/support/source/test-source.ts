/** The profile that tests start from, and sources that end with their test. */
import { onTestFinished } from 'vitest'
import { type Profile, parseProfile } from '../../../src/upstream/profile/profile.ts'
import { openSource, type Source, type SourceOptions } from '../../../src/upstream/source.ts'
import { SILENT } from '../syncing.ts'

/** Returns a profile with these parts. By default its list has no pages, and a lead has an id alone. */
export function profileWith(parts: object): Profile {
  return parseProfile(
    { name: 'test', paging: { kind: 'none' }, mapping: { lead: { id: 'id' } }, ...parts },
    'test',
  )
}

/** Opens a source that tries everything three times, without waiting. */
export function openTestSource(options: Pick<SourceOptions, 'baseUrl'> & Partial<SourceOptions>): Source {
  const backoff = { attempts: 3, baseMs: 0, maxMs: 0 }
  const source = openSource({ apiKey: 'test-key', maxWaitMs: 0, log: SILENT, backoff, ...options })
  onTestFinished(source.close)
  return source
}
