// @both-stores
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import {
  beginUptime,
  endUptime,
  findGap,
  listClockSets,
  listGaps,
  recordHeartbeat,
} from '../../../src/store/schedule/uptime.ts'
import { openEmptyStore } from '../../support/store.ts'

const at = (time: string): string => `2026-11-20T${time}:00.000Z`

/**
 * Opens a store whose daemon ran from 06:00 to 07:00 and was killed, from 09:00 to 10:00 and was held up, and
 * from 10:20 until it was stopped at 11:00.
 */
async function openLived(): Promise<Store> {
  const store = await openEmptyStore()
  await store.write(async (trx) => {
    await recordHeartbeat(trx, await beginUptime(trx, { at: at('06:00'), after: 'down' }), at('07:00'))
    await recordHeartbeat(trx, await beginUptime(trx, { at: at('09:00'), after: 'down' }), at('10:00'))
    await endUptime(trx, await beginUptime(trx, { at: at('10:20'), after: 'blocked' }), at('11:00'))
  })
  return store
}

it.each([
  ['06:30', null],
  ['07:00', null],
  ['05:00', { from: null, to: at('06:00'), why: 'down' }],
  ['08:00', { from: at('07:00'), to: at('09:00'), why: 'down' }],
  ['10:10', { from: at('10:00'), to: at('10:20'), why: 'blocked' }],
  ['11:30', { from: at('11:00'), to: null, why: 'down' }],
])('at %s the daemon ran, or did not: %j', async (time, gap) => {
  await using store = await openLived()
  expect(await findGap(store.db, at(time))).toEqual(gap)
})

it('the times without a daemon are listed, the newest first, and that of now', async () => {
  await using store = await openLived()
  const listed = (since: string, now: string, leastMs = 60_000) =>
    listGaps(store.db, { since: at(since), now: at(now), leastMs })
  expect(await listed('05:00', '12:00')).toEqual([
    { from: at('11:00'), to: null, why: 'down' },
    { from: at('10:00'), to: at('10:20'), why: 'blocked' },
    { from: at('07:00'), to: at('09:00'), why: 'down' },
  ])
  expect(await listed('10:00', '11:01', 120_000)).toEqual([
    { from: at('10:00'), to: at('10:20'), why: 'blocked' },
  ])
})

it('a clock that was ahead for a while was set twice that day, and not again when its wrong time comes', async () => {
  await using store = await openEmptyStore()
  const on = (day: number, time: string): string => at(time).replace('-20T', `-${day}T`)
  const began = (began_at: string, after: 'down' | 'clock', lastAt = began_at) =>
    store.write(async (trx) => recordHeartbeat(trx, await beginUptime(trx, { at: began_at, after }), lastAt))
  await began(on(20, '06:00'), 'down', on(20, '10:00'))
  await began(on(21, '12:01'), 'clock', on(21, '12:02'))
  const ahead = { from: on(20, '10:00'), to: on(21, '12:01') }
  const setsAt = (day: number, time: string) => listClockSets(store.db, on(day - 1, time), on(day, time))
  expect(await setsAt(21, '12:02')).toEqual([ahead])
  await began(on(20, '10:03'), 'clock', on(21, '13:00'))
  const back = { from: on(21, '12:02'), to: on(20, '10:03') }
  for (const [day, time] of [
    [20, '10:03'],
    [20, '23:00'],
    [21, '10:02'],
  ] as const)
    expect(await setsAt(day, time)).toEqual([ahead, back])
  for (const [day, time] of [
    [21, '10:04'],
    [21, '12:03'],
    [22, '12:00'],
  ] as const)
    expect(await setsAt(day, time)).toEqual([])
})

it('a clock that several workers saw being set was set once', async () => {
  await using store = await openEmptyStore()
  await store.write(async (trx) => {
    const began = async (pid: number, time: string, after: 'down' | 'clock', lastAt = time) => {
      const id = await beginUptime(trx, { at: at(time), after })
      await recordHeartbeat(trx, id, at(lastAt))
      await trx.updateTable('daemon_uptime').set({ pid }).where('id', '=', id).execute()
    }
    for (const pid of [1, 2]) await began(pid, '06:00', 'down', '07:00')
    await began(1, '09:00', 'clock', '09:05')
    await began(2, '09:01', 'clock', '09:05')
  })
  expect(await listClockSets(store.db, at('08:00'), at('10:00'))).toEqual([
    { from: at('07:00'), to: at('09:00') },
  ])
})

it('a daemon that is started again and again does not fill the disk', async () => {
  await using store = await openEmptyStore()
  await store.write(async (trx) => {
    for (let start = 0; start < 1010; start++) await beginUptime(trx, { at: at('06:00'), after: 'down' })
  })
  expect(await store.db.selectFrom('daemon_uptime').select('id').execute()).toHaveLength(1000)
})
