// @both-stores
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import {
  beginUptime,
  endUptime,
  findClockSet,
  findGap,
  listGaps,
  recordHeartbeat,
  resumeUptime,
} from '../../../src/store/schedule/uptime.ts'
import { saveUptime } from '../../support/data/operation.ts'
import { openEmptyStore } from '../../support/store.ts'

const at = (time: string): string => `2026-11-20T${time}:00.000Z`

/** A daemon runs from one time to another. */
async function live(store: Store, began: string, ended: string): Promise<void> {
  await store.write(async (trx) =>
    endUptime(trx, await beginUptime(trx, { at: at(began), after: 'down' }), at(ended)),
  )
}

it('the daemon did not run before it was first started, between its lives, and after the last until now', async () => {
  await using store = await openEmptyStore()
  expect(await findGap(store.db, at('05:00'))).toEqual({ from: null, to: null, why: 'down' })
  await live(store, '06:00', '07:00')
  await live(store, '09:00', '11:00')
  for (const time of ['06:30', '10:10']) expect(await findGap(store.db, at(time))).toBeNull()
  const between = { from: at('07:00'), to: at('09:00'), why: 'down' }
  const after = { from: at('11:00'), to: null, why: 'down' }
  expect(await findGap(store.db, at('08:00'))).toEqual(between)
  expect(await findGap(store.db, at('11:30'))).toEqual(after)
  const listed = (since: string, now: string, leastMs = 60_000) =>
    listGaps(store.db, { since: at(since), now: at(now), leastMs })
  expect(await listed('05:00', '12:00')).toEqual([after, between])
  expect(await listed('10:00', '11:01', 120_000)).toEqual([])
})

it('a daemon that goes on after it was held up tells of that', async () => {
  await using store = await openEmptyStore()
  const id = await saveUptime(store, at('06:00'), at('07:00'))
  await store.write((trx) => resumeUptime(trx, id, { at: at('07:20'), after: 'blocked' }))
  const held = { from: at('07:00'), to: at('07:20'), why: 'blocked' }
  expect(await findGap(store.db, at('07:10'))).toEqual(held)
  expect(await listGaps(store.db, { since: at('06:00'), now: at('07:21'), leastMs: 60_000 })).toEqual([held])
})

it('a clock that was set ahead, and then back, was set', async () => {
  await using store = await openEmptyStore()
  const on = (day: number, time: string): string => at(time).replace('-20T', `-${day}T`)
  const resume = (began_at: string, lastAt: string) =>
    store.write(async (trx) => {
      await resumeUptime(trx, id, { at: began_at, after: 'clock' })
      await recordHeartbeat(trx, id, lastAt)
    })
  const id = await store.write((trx) => beginUptime(trx, { at: on(20, '10:00'), after: 'down' }))
  const setsAt = (day: number, time: string) => findClockSet(store.db, on(day - 1, time), on(day, time))
  await resume(on(21, '12:01'), on(21, '12:02'))
  expect(await setsAt(21, '12:02')).toEqual({ from: on(20, '10:00'), to: on(21, '12:01') })
  await resume(on(20, '10:03'), on(20, '23:00'))
  expect(await setsAt(20, '23:00')).toEqual({ from: on(21, '12:02'), to: on(20, '10:03') })
  expect(await setsAt(21, '10:04')).toBeNull()
})

it('a daemon that is started again and again leaves one row', async () => {
  await using store = await openEmptyStore()
  for (let start = 0; start < 10; start++) await live(store, '06:00', '06:00')
  expect(await store.db.selectFrom('daemon_uptime').select('id').execute()).toHaveLength(1)
})
