// @both-stores
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import {
  addScheduledRun,
  beginScheduledRun,
  endUnknownScheduledRuns,
  findLastScheduledRun,
  finishScheduledRun,
  isAnyOpen,
  listOpenScheduledRuns,
  listScheduledRuns,
  type ScheduledRun,
} from '../../../src/store/schedule/scheduled-run.ts'
import { openEmptyStore } from '../../support/store.ts'

const [SIX, SEVEN, EIGHT] = [
  '2026-11-21T06:00:00.000Z',
  '2026-11-21T07:00:00.000Z',
  '2026-11-21T08:00:00.000Z',
] as const

async function withScheduledRuns(...scheduledRuns: readonly string[]): Promise<Store> {
  const store = await openEmptyStore()
  await store.write(async (trx) => {
    for (const dueAt of scheduledRuns) await addScheduledRun(trx, due(dueAt))
  })
  return store
}

function due(dueAt: string) {
  return {
    schedule: 'sync',
    due_at: dueAt,
    state: 'pending' as const,
    noted_at: dueAt,
    not_before: null,
    message: null,
  }
}

/** Begins the oldest open run. */
async function begin(store: Store): Promise<ScheduledRun> {
  const [oldest] = await listOpenScheduledRuns(store.db, 'sync', EIGHT)
  if (oldest === undefined) throw new Error('nothing is open')
  return store.write((trx) => beginScheduledRun(trx, oldest, EIGHT))
}

const finish = (store: Store, dueAt: string, end: 'done' | 'held', at: string | null = EIGHT) =>
  store.write((trx) =>
    finishScheduledRun(
      trx,
      { schedule: 'sync', due_at: dueAt },
      { state: end, not_before: null, finished_at: at, message: 'all well' },
    ),
  )
const states = async (store: Store) =>
  (await listScheduledRuns(store.db, 9)).map((scheduledRun) => [scheduledRun.due_at, scheduledRun.state])

describe('the scheduled runs of a schedule', () => {
  it('are open until they are over, the oldest first, and stay over when they are noted again', async () => {
    await using store = await withScheduledRuns(SEVEN, SIX)
    expect(await listOpenScheduledRuns(store.db, 'report:daily', EIGHT)).toEqual([])
    expect(await begin(store)).toMatchObject({
      due_at: SIX,
      state: 'running',
      attempts: 1,
      started_at: EIGHT,
    })
    await finish(store, SIX, 'done')
    expect(await begin(store)).toMatchObject({ due_at: SEVEN })
    await finish(store, SEVEN, 'done')
    await store.write((trx) => addScheduledRun(trx, due(SIX)))
    expect(await listOpenScheduledRuns(store.db, 'sync', EIGHT)).toEqual([])
    expect((await listScheduledRuns(store.db, 9))[1]).toMatchObject({
      state: 'done',
      message: 'all well',
      finished_at: EIGHT,
    })
  })

  it('that a clock which was ahead has noted are noted anew, but for what was begun', async () => {
    await using store = await withScheduledRuns(SIX)
    const ahead = { ...due(SEVEN), state: 'skipped' as const, noted_at: EIGHT, message: 'missed' }
    await store.write((trx) => addScheduledRun(trx, ahead))
    expect(await findLastScheduledRun(store.db, 'sync', SEVEN)).toMatchObject({ due_at: SIX })
    expect(await store.write((trx) => addScheduledRun(trx, due(SEVEN)))).toBe(true)
    expect(await states(store)).toEqual([
      [SEVEN, 'pending'],
      [SIX, 'pending'],
    ])
    await begin(store)
    expect(
      await store.write((trx) => addScheduledRun(trx, { ...due(SIX), noted_at: '2026-11-21T05:00:00.000Z' })),
    ).toBe(false)
  })

  it('count how often they were begun, but not how often a held one was asked again', async () => {
    await using store = await withScheduledRuns(SIX)
    await begin(store)
    expect(await begin(store)).toMatchObject({ attempts: 2 })
    await finish(store, SIX, 'held', null)
    expect(await begin(store)).toMatchObject({ state: 'running', attempts: 2 })
  })

  it('are not begun before their time, and over when the settings have no such schedule any longer', async () => {
    await using store = await withScheduledRuns(SIX)
    await store.write((trx) => addScheduledRun(trx, { ...due(SEVEN), not_before: EIGHT }))
    expect(await isAnyOpen(store.db, 'sync', SEVEN)).toBe(true)
    await finish(store, SIX, 'done')
    expect(await isAnyOpen(store.db, 'sync', SEVEN)).toBe(false)
    await store.write((trx) => endUnknownScheduledRuns(trx, ['sync'], EIGHT))
    expect(await isAnyOpen(store.db, 'sync', EIGHT)).toBe(true)
    await store.write((trx) => endUnknownScheduledRuns(trx, ['report:daily'], EIGHT))
    expect(await states(store)).toEqual([
      [SEVEN, 'skipped'],
      [SIX, 'done'],
    ])
  })

  it('have a last one up to an instant', async () => {
    await using store = await withScheduledRuns(SIX, SEVEN, '2031-01-01T00:00:00.000Z')
    expect((await findLastScheduledRun(store.db, 'sync', EIGHT))?.due_at).toBe(SEVEN)
    expect((await findLastScheduledRun(store.db, 'sync', SIX))?.due_at).toBe(SIX)
    expect(await findLastScheduledRun(store.db, 'sync', '2026-11-21T05:00:00.000Z')).toBeUndefined()
  })
})
