/**
 * An upstream that takes 50 ms a page: what is won by asking for pages before they are needed. By page number
 * several can be asked for at once; a cursor is known only when the page before is there.
 */
import { pino } from 'pino'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import { openStore } from '../../../src/store/open.ts'
import { openSource } from '../../../src/upstream/open.ts'
import type { Profile } from '../../../src/upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { file, leads, timeStep, url } from '../step.ts'
import { pagesOf } from './pages.ts'
import { openPlain, saveBatches } from './plain.ts'

const PAGES = { kind: 'page', param: 'page', start: 1, size_max: 1000, stop_at_total: false } as const
const BY_NUMBER: Profile = {
  ...REFERENCE_PROFILE,
  name: 'numbered',
  paging: { ...PAGES, size_param: 'limit', total: REFERENCE_PROFILE.paging.total },
}

const log = pino({ level: 'silent' })
const slow = `${url}/slow-v1`

const db = await openPlain()
for (const step of ['plain first', 'plain unchanged']) {
  await timeStep(step, async () => {
    for await (const page of pagesOf(slow, { isAhead: false })) await saveBatches(db, page)
    return null
  })
}
await timeStep('fetches alone', async () => {
  let requests = 0
  for await (const _ of pagesOf(slow, { isAhead: false })) requests++
  return requests
})
await syncTwice('numbered', BY_NUMBER)
await syncTwice('cursor', REFERENCE_PROFILE)

async function syncTwice(name: string, profile: Profile): Promise<void> {
  await using store = await openStore(`${file}-${name}`, new Date())
  const source = openSource({ baseUrl: slow, profile, apiKey: 'bench', maxWaitMs: 0, log })
  for (const step of [`${name} first`, `${name} unchanged`]) {
    await timeStep(step, async () => {
      const options = { full: true, parts: ['leads'], pageSize: 500, overlapMs: 0, pipelineIds: [] } as const
      const signal = new AbortController().signal
      const result = await sync({ source, store, log, now: () => new Date() }, { ...options, signal })
      if (result.leads.seen !== leads) throw new Error(`${step}: ${JSON.stringify(result)}`)
      return result.requests
    })
  }
  await source.close()
}
