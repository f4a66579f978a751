// @both-stores, in turn
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type KeptOverview, type OverviewKeeper, openOverview } from '../../src/jobs/overview.ts'
import type { Store } from '../../src/store/db/store.ts'
import { lead, openEmptyStore, save, saveEndedRun } from '../support/store.ts'
import { SILENT } from '../support/syncing.ts'

const NOW = new Date('2026-11-21T09:00:00Z')

async function openKeeper(patienceMs?: number): Promise<{ store: Store; overview: OverviewKeeper }> {
  const store = await openEmptyStore()
  const deps = { store, now: () => NOW, timeZone: 'Europe/Berlin', stalledDays: 7, log: SILENT }
  const overview = openOverview(deps, patienceMs)
  onTestFinished(async () => {
    await overview[Symbol.asyncDispose]()
    await store.close()
  })
  return { store, overview }
}

/** Waits until the started count has ended. */
async function readCounted(overview: OverviewKeeper): Promise<KeptOverview> {
  for (;;) {
    const kept = await overview.read()
    if (!kept.isBeingCounted) return kept
    await delay(50)
  }
}

describe('the overview', () => {
  it('is none before a sync has read all leads', async () => {
    const { store, overview } = await openKeeper()
    await save(store, [lead('1')])
    expect(await overview.read()).toEqual({
      overview: null,
      dataAsOf: null,
      isBeingCounted: false,
      failure: null,
    })
  })

  it('tells of whole days before that of the last whole reading, and of that moment', async () => {
    const { store, overview } = await openKeeper()
    await save(store, [lead('1', { createdAt: '2026-11-19T23:30:00.000Z' }), lead('2')])
    await saveEndedRun(store, '2026-11-21T08:00:00.000Z')
    const { overview: counted, dataAsOf } = await readCounted(overview)
    expect(dataAsOf).toBe('2026-11-21T08:00:00.000Z')
    expect(counted).toMatchObject({
      asOf: '2026-11-21T08:00:00.000Z',
      period: { from: '2026-10-21T22:00:00.000Z', to: '2026-11-20T23:00:00.000Z' },
      pipelines: [{ id: 'p1', leads: 2, newLeads: 2 }],
    })
    expect(counted?.pipelines[0]?.trend.at(-1)).toEqual({ day: '2026-11-20', newLeads: 1, won: 0 })
  })

  it('is that of before, and says so, while the one of a new sync is being counted', async () => {
    const { store, overview } = await openKeeper(0)
    await save(store, [lead('1')])
    await saveEndedRun(store, '2026-11-21T08:00:00.000Z')
    await readCounted(overview)
    await save(store, [lead('2')])
    await saveEndedRun(store, '2026-11-21T08:30:00.000Z')
    expect(await overview.read()).toMatchObject({
      overview: { asOf: '2026-11-21T08:00:00.000Z', pipelines: [{ leads: 1 }] },
      dataAsOf: '2026-11-21T08:30:00.000Z',
      isBeingCounted: true,
    })
    expect(await readCounted(overview)).toMatchObject({
      overview: { asOf: '2026-11-21T08:30:00.000Z', pipelines: [{ leads: 2 }] },
    })
  })

  it('stays the same while no sync has ended since', async () => {
    const { store, overview } = await openKeeper()
    await save(store, [lead('1')])
    await saveEndedRun(store, '2026-11-21T08:00:00.000Z')
    const first = await readCounted(overview)
    await save(store, [lead('2')])
    const second = await overview.read()
    expect(second.isBeingCounted).toBe(false)
    expect(second.overview).toBe(first.overview)
  })

  it('says why it could not be counted, and is counted again when it is asked for again', async () => {
    const { store, overview } = await openKeeper()
    await saveEndedRun(store, '2026-11-21T08:00:00.000Z')
    await store.db.schema.alterTable('stage_move').renameTo('elsewhere').execute()
    expect(await readCounted(overview)).toMatchObject({
      overview: null,
      failure: expect.stringMatching(/no such table|"stage_move" does not exist/),
    })
    await store.db.schema.alterTable('elsewhere').renameTo('stage_move').execute()
    expect(await readCounted(overview)).toMatchObject({ failure: null, overview: { pipelines: [] } })
  })

  it('is given up at once when the daemon ends, and nobody is left waiting', async () => {
    const { store, overview } = await openKeeper()
    await saveEndedRun(store, '2026-11-21T08:00:00.000Z')
    const asked = overview.read()
    await overview[Symbol.asyncDispose]()
    expect(await asked).toMatchObject({ overview: null, failure: null })
  })
})
