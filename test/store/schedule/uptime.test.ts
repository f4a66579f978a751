// @both-stores
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import {
  beginUptime,
  endUptime,
  findGap,
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

it('a daemon that is started again and again does not fill the disk', async () => {
  await using store = await openEmptyStore()
  await store.write(async (trx) => {
    for (let start = 0; start < 1010; start++) await beginUptime(trx, { at: at('06:00'), after: 'down' })
  })
  expect(await store.db.selectFrom('daemon_uptime').select('id').execute()).toHaveLength(1000)
})
