// @both-stores
/** The queue of what has to be read because of events. */
import { expect, it } from 'vitest'
import { finishEvents, listQueued, postponeEvent } from '../../../src/store/events/event.ts'
import { event, receive } from '../../support/data/events.ts'
import { openEmptyStore } from '../../support/store.ts'

const BEFORE = '2026-11-21T06:00:00.000Z'
const THEN = '2026-11-21T06:01:00.000Z'
const LATER = '2026-11-21T06:02:00.000Z'

it('has one row for all events about a lead, which knows how many they are and whether one deleted it', async () => {
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

it('keeps a lead whose next event arrived while it was read, even at the same instant, to be read at once', async () => {
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
