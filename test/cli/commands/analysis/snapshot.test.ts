import { join } from 'node:path'
import { it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { startUpstream } from '../../../support/upstream.ts'

it('a sync publishes what it has brought, once, and tries again where that could not be; the command does it now', async () => {
  await using upstream = await startUpstream(30)
  const env = {
    ...clockStandingAt('2026-11-24T12:00:00Z'),
    LEADSHEET_API_URL: upstream.url,
    LEADSHEET_API_KEY: 'test-key',
    LEADSHEET_DATA_DIR: 'data',
  }
  const cwd = folderWith({ 'hindered/snapshot.db/in-the-way': '' })
  await checkTranscript(join(import.meta.dirname, 'golden/snapshot.txt'), { cwd, env })
})
