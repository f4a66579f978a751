// @both-stores
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import {
  beginScheduledRun,
  endUnknownScheduledRuns,
  findLastScheduledRun,
  isAnyOpen,
  listOpenScheduledRuns,
  listScheduledRuns,
  type ScheduledRun,
  updateScheduledRun,
} from '../../../src/store/schedule/scheduled-run.ts'
import { noteRun } from '../../support/data/operation.ts'
import { openEmptyStore } from '../../support/store.ts'

const at = (hour: number): string => `2026-11-21T0${hour}:00:00.000Z`
const [SIX, SEVEN, EIGHT] = [at(6), at(7), at(8)] as const

/** @returns whether the run was noted anew */
const note = (store: Store, due_at: string, change: Partial<ScheduledRun> = {}) =>
  noteRun(store, { schedule: 'sync', due_at, state: 'pending', ...change })

async function withScheduledRuns(...scheduledRuns: readonly string[]): Promise<Store> {
  const store = await openEmptyStore()
  for (const dueAt of scheduledRuns) await note(store, dueAt)
  return store
}

/** Begins the oldest open run. */
async function begin(store: Store): Promise<ScheduledRun> {
  const [oldest] = await listOpenScheduledRuns(store.db, 'sync', EIGHT)
  if (oldest === undefined) throw new Error('nothing is open')
  return store.write((trx) => beginScheduledRun(trx, oldest, EIGHT))
}

function finish(store: Store, due_at: string, state: 'done' | 'held' = 'done'): Promise<unknown> {
  const end = { state, not_before: null, finished_at: state === 'done' ? EIGHT : null, message: 'all well' }
  return store.write((trx) => updateScheduledRun(trx, { schedule: 'sync', due_at }, end))
}

const states = async (store: Store) =>
  (await listScheduledRuns(store.db, 9)).map((scheduledRun) => [scheduledRun.due_at, scheduledRun.state])

describe('the scheduled runs of a schedule', () => {
  it('are open until they are over, the oldest first, and stay over when they are noted again', async () => {
    await using store = await withScheduledRuns(SEVEN, SIX)
    expect(await listOpenScheduledRuns(store.db, 'report:daily', EIGHT)).toEqual([])
    const begun = { due_at: SIX, state: 'running', attempts: 1, started_at: EIGHT }
    expect(await begin(store)).toMatchObject(begun)
    await finish(store, SIX)
    expect(await begin(store)).toMatchObject({ due_at: SEVEN })
    await finish(store, SEVEN)
    await note(store, SIX)
    expect(await listOpenScheduledRuns(store.db, 'sync', EIGHT)).toEqual([])
    const ended = { state: 'done', message: 'all well', finished_at: EIGHT }
    expect((await listScheduledRuns(store.db, 9))[1]).toMatchObject(ended)
  })

  it('that a clock which was ahead has noted are noted anew, but for what was begun', async () => {
    await using store = await withScheduledRuns(SIX)
    await note(store, SEVEN, { state: 'skipped', noted_at: EIGHT, message: 'missed' })
    expect(await findLastScheduledRun(store.db, 'sync', SEVEN)).toMatchObject({ due_at: SIX })
    expect(await note(store, SEVEN)).toBe(true)
    expect(await states(store)).toEqual([
      [SEVEN, 'pending'],
      [SIX, 'pending'],
    ])
    await begin(store)
    expect(await note(store, SIX, { noted_at: at(5) })).toBe(false)
  })

  it('count how often they were begun, but not how often a held one was asked again', async () => {
    await using store = await withScheduledRuns(SIX)
    await begin(store)
    expect(await begin(store)).toMatchObject({ attempts: 2 })
    await finish(store, SIX, 'held')
    expect(await begin(store)).toMatchObject({ state: 'running', attempts: 2 })
  })

  it('are not begun before their time, and over when the settings have no such schedule any longer', async () => {
    await using store = await withScheduledRuns(SIX)
    await note(store, SEVEN, { not_before: EIGHT })
    expect(await isAnyOpen(store.db, 'sync', SEVEN)).toBe(true)
    await finish(store, SIX)
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
    const last = async (upTo: string) => (await findLastScheduledRun(store.db, 'sync', upTo))?.due_at
    expect([await last(EIGHT), await last(SIX), await last(at(5))]).toEqual([SEVEN, SIX, undefined])
  })
})
