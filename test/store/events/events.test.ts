// @both-stores
/** The queue of what has to be read because of events, and when the last ones came. */
import { expect, it } from 'vitest'
import { finishEvents, listQueued, postponeEvent } from '../../../src/store/events/event.ts'
import { findLastArrival } from '../../../src/store/events/event-stats.ts'
import { event, receive } from '../../support/data/events.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { IN_POSTGRES, openEmptyStore } from '../../support/store.ts'

const BEFORE = '2026-11-21T06:00:00.000Z'
const THEN = '2026-11-21T06:01:00.000Z'
const LATER = '2026-11-21T06:02:00.000Z'

it('the queue has one row for all events about a lead, which knows how many they are and whether one deleted it', async () => {
  await using store = await openEmptyStore()
  await receive(store, [event('1', { isDeletion: true }), event('2'), event('3', { resourceId: 'b' })], THEN)
  await receive(store, [event('4', { resourceId: 'b' })], LATER)
  const queued = await listQueued(store.db, LATER, 10, [])
  const rows = queued.map(({ resource_id, asked_at, last_at, events, is_deletion }) => {
    return { resource_id, asked_at, last_at, events, is_deletion }
  })
  expect(rows.toSorted((a, b) => a.resource_id.localeCompare(b.resource_id))).toEqual([
    { resource_id: 'a', asked_at: THEN, last_at: THEN, events: 2, is_deletion: 1 },
    { resource_id: 'b', asked_at: THEN, last_at: LATER, events: 2, is_deletion: 0 },
  ])
})

it('the queue keeps a lead whose next event arrived while it was read, even at the same instant, to be read at once', async () => {
  await using store = await openEmptyStore()
  await receive(store, [event('1')], BEFORE)
  const [row] = await listQueued(store.db, BEFORE, 10, [])
  if (!row) throw new Error('Nothing is queued')
  await receive(store, [event('2')], BEFORE)
  await store.write((trx) => postponeEvent(trx, row, LATER))
  await store.write((trx) => finishEvents(trx, row, { at: THEN, outcome: 'updated', problem: null }))
  const left = await listQueued(store.db, THEN, 10, [])
  expect(left).toMatchObject([{ resource_id: 'a', events: 1, not_before: null, failures: 0 }])
  await store.write((trx) =>
    finishEvents(trx, left[0] ?? row, { at: THEN, outcome: 'updated', problem: null }),
  )
  expect(await listQueued(store.db, LATER, 10, [])).toEqual([])
})

it('when the last event about a lead came is found by an index that has all of it, however many came about nothing', async () => {
  await using store = await openEmptyStore()
  await receive(store, [event('1')], BEFORE)
  await receive(store, [event('2', { resource: null, resourceId: '' })], THEN)
  expect(await findLastArrival(store.db, 'any')).toBe(THEN)
  expect(await findLastArrival(store.db, 'lead')).toBe(BEFORE)
  const plan = await explainPlan(
    store,
    "SELECT received_at FROM event WHERE resource = 'lead' ORDER BY received_at DESC LIMIT 1",
  )
  expect(plan).toContain(
    IN_POSTGRES
      ? 'Index Only Scan Backward using event_by_time on event'
      : 'SCAN event USING COVERING INDEX event_by_time',
  )
})
