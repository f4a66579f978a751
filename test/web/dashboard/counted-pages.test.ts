/** The pages of agents, of a lead and of the record; `golden/` has what they show. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Agent } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveAgents } from '../../../src/store/sync/samples.ts'
import { leadPageUrl } from '../../../src/web/dashboard/lead.ts'
import { publishRanges } from '../../support/reports/published-ranges.ts'
import { agent, lead, observedAt, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'
import { countDays, LOOKED_AT, openDailyStore, ZONE } from '../../support/web/counted-pages.ts'
import { shownText } from '../../support/web/shown-text.ts'
import { openStatusPage } from '../../support/web/status-page.ts'

async function openStore(readings: Readonly<Record<string, readonly Agent[]>> = {}): Promise<Store> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  for (const [at, agents] of Object.entries(readings)) {
    await store.write((trx) => saveAgents(trx, agents, observedAt(at), { isWhole: true }))
  }
  await saveWholeRun(store, '2026-11-21T09:00:00.000Z')
  return store
}

async function get(store: Store, path: string): Promise<Response> {
  return fetch(`${(await openStatusPage({ store, at: LOOKED_AT })).url}${path}`)
}

async function expectShown(store: Store, path: string, state: string): Promise<void> {
  const html = await (await get(store, path)).text()
  await expect(`${shownText(html)}\n`).toMatchFileSnapshot(`golden/${state}.txt`)
}

describe('the page of agents', () => {
  it('begins with those that fail, says since when and why, and what the others do', async () => {
    const failing = {
      ...agent('b', 'failing'),
      statusChangedAt: '2026-11-21T08:30:00.000Z',
      errors24h: 14,
      tasks24h: 3,
      lastErrorMessage: 'quota used up',
      lastErrorAt: '2026-11-21T08:59:00.000Z',
    }
    const busy = {
      ...agent('a', 'running'),
      kind: 'enrichment',
      taskType: 'read_site',
      taskPipelineId: 'p1',
      taskProgress: 0.5,
      lastErrorMessage: 'of long ago',
      lastErrorAt: '2026-11-01T08:59:00.000Z',
    }
    const store = await openStore({ '2026-11-21T09:00:00.000Z': [busy, failing, agent('c', 'paused')] })
    await expectShown(store, '/agents', 'agents/failing')
  })

  it('tells the outages of the last 30 days, the newest first', async () => {
    const reading = (status: string) => [agent('a', status), agent('b', 'idle')]
    const store = await openStore({
      '2026-11-20T06:00:00.000Z': reading('running'),
      '2026-11-20T07:00:00.000Z': reading('failing'),
      '2026-11-20T08:00:00.000Z': reading('running'),
      '2026-11-20T09:00:00.000Z': reading('running'),
      '2026-11-20T10:00:00.000Z': reading('down'),
    })
    await expectShown(store, '/agents', 'agents/outages')
  })

  it.each([
    ['2026-11-20', 'agents/lost'],
    ['2026-10-01', 'agents/lost-long-ago'],
  ])('keeps agents that went away in sight, for 30 days: %s', async (day, state) => {
    const store = await openStore({
      [`${day}T09:00:00.000Z`]: [agent('a', 'running'), agent('b', 'running')],
      [`${day}T10:00:00.000Z`]: [agent('a', 'running')],
    })
    await expectShown(store, '/agents', state)
  })

  it('says so where no agents have been read', async () => {
    await expectShown(await openStore(), '/agents', 'agents/none')
  })
})

describe('the page of a lead', () => {
  async function openLead(): Promise<Store> {
    const store = await openStore()
    const acme = { companyName: 'Acme & Sons', owner: 'Ana', valueAmount: 4100, valueCurrency: 'USD' }
    await save(store, [lead('a/b', { ...acme, status: 'contacted' })], '2026-11-20T06:00:00Z')
    const replied = { ...acme, status: 'replied', updatedAt: '2026-11-21T05:00:00.000Z' }
    await save(store, [lead('a/b', replied)])
    return store
  }
  const pathOf = (id: string) => leadPageUrl('').replace('{id}', encodeURIComponent(id))

  it('has what a person needs to act on it, and its former states, by the address that reports link to', async () => {
    await expectShown(await openLead(), pathOf('a/b'), 'lead')
  })

  it('says of an id that is not known that there is no such lead', async () => {
    const answer = await get(await openLead(), pathOf('nobody'))
    expect([answer.status, shownText(await answer.text())]).toEqual([
      404,
      expect.stringContaining('There is no such lead'),
    ])
  })
})

describe('the page of the record', () => {
  it('has the ranges that reports published, and how often they held', async () => {
    const store = await openDailyStore(120)
    await countDays(store)
    const published = { before: '2026-11-20', timeZone: ZONE }
    await publishRanges(store, published, { kind: 'day', figure: 'new_leads', hits: 50, of: 64 })
    const rate = { kind: '30_days', figure: 'win_rate', hits: 3, of: 3, pipelines: '["p1"]' } as const
    await publishRanges(store, published, rate)
    await publishRanges(store, published, { kind: 'month_end', figure: 'lost', hits: 2, of: 3 })
    await expectShown(store, '/record', 'record')
  })

  it('says that no range of a report has been tested yet', async () => {
    await expectShown(await openDailyStore(20), '/record', 'record-none')
  })
})
