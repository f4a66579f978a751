// @both-stores
/** The statistics of events that are read every minute. */
import { expect, it } from 'vitest'
import { findLastArrival } from '../../../src/store/events/event-stats.ts'
import { event, receive } from '../../support/data/events.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { IN_POSTGRES, openEmptyStore } from '../../support/store.ts'

it('tells when the last event about a lead came by an index that has all of it, however many came about nothing', async () => {
  await using store = await openEmptyStore()
  await receive(store, [event('1')], '2026-11-21T06:00:00.000Z')
  await receive(store, [event('2', { resource: null, resourceId: '' })], '2026-11-21T06:01:00.000Z')
  expect(await findLastArrival(store.db, 'any')).toBe('2026-11-21T06:01:00.000Z')
  expect(await findLastArrival(store.db, 'lead')).toBe('2026-11-21T06:00:00.000Z')
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
