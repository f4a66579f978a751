/**
 * An upstream that takes 50 ms for a page. It shows the gain of asking for pages early. Numbered pages can be
 * asked for in parallel; a cursor is only known when the page before has come.
 */
import { openStore } from '../../../src/store/open.ts'
import type { Profile } from '../../../src/upstream/profile/profile.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { file, leads, timeStep, url } from '../step.ts'
import { countPages, pagesOf } from './pages.ts'
import { openPlain, saveBatches } from './plain.ts'
import { syncLeads } from './sync.ts'

const PAGES = { kind: 'page', param: 'page', start: 1, size_max: 1000, stop_at_total: false } as const
const BY_NUMBER: Profile = {
  ...REFERENCE_PROFILE,
  name: 'numbered',
  paging: { ...PAGES, size_param: 'limit', total: REFERENCE_PROFILE.paging.total },
}

const slow = `${url}/slow-v1`

const db = await openPlain()
for (const step of ['plain first', 'plain unchanged']) {
  await timeStep(step, async () => {
    for await (const page of pagesOf(slow, { isAhead: false })) await saveBatches(db, page)
  })
}
await timeStep('fetches alone', () => countPages(pagesOf(slow, { isAhead: false })))
await syncTwice('numbered', BY_NUMBER)
await syncTwice('cursor', REFERENCE_PROFILE)

async function syncTwice(name: string, profile: Profile): Promise<void> {
  await using store = await openStore(`${file}-${name}`, new Date())
  for (const step of [`${name} first`, `${name} unchanged`]) {
    await timeStep(step, async () => {
      const result = await syncLeads(store, slow, { profile })
      if (result.leads.seen !== leads) throw new Error(`${step}: ${JSON.stringify(result)}`)
    })
  }
}
