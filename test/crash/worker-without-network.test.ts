/** A worker whose machine loses the network during its work. It does not know that others have taken over. */
import { describe, expect, it } from 'vitest'
import { openTcpProxy } from '../support/network/tcp-proxy.ts'
import { hasPostgres } from '../support/postgres.ts'
import {
  MINUTELY,
  newStoreUrl,
  scheduledRunCount,
  scheduledRunsOf,
  startMachine,
} from '../support/schedule/machines.ts'
import { scheduleOf } from '../support/schedule/schedule.ts'

/** The time until a lease has expired and the job is tried again. */
const TAKEN_OVER_WITHIN_MS = 60_000

describe.skipIf(!hasPostgres || process.env['CRASH'] !== 'full')('a worker that is cut off', () => {
  it('is taken over from within a minute, and writes nothing when its network is back', async () => {
    const url = await newStoreUrl()
    await using proxy = await openTcpProxy(Number(new URL(url).port))
    const clock = { now: new Date('2026-11-20T07:00:00Z') }
    const begun = Promise.withResolvers<void>()
    const isBack = Promise.withResolvers<void>()
    const steps: string[] = []
    const cutOff = scheduleOf({
      ...MINUTELY,
      name: 'sync',
      leaseName: 'sync',
      run: async () => {
        steps.push('begun by the first')
        begun.resolve()
        await isBack.promise
        return { state: 'failed', message: 'as the first has it' }
      },
    })
    const other = scheduleOf({
      ...MINUTELY,
      name: 'sync',
      leaseName: 'sync',
      run: async () => {
        steps.push('done by the second')
        return { state: 'done', message: null }
      },
    })
    const first = await startMachine(proxy.urlOf(url), clock, [cutOff])
    await expect.poll(() => scheduledRunCount(first.store)).toBe(1)
    await first.tick('2026-11-20T07:01:00Z')
    await begun.promise
    await proxy.refuse(true)
    proxy.cut()
    const second = await startMachine(url, clock, [other])
    await expect.poll(() => steps, { timeout: TAKEN_OVER_WITHIN_MS }).toHaveLength(2)
    await proxy.refuse(false)
    isBack.resolve()
    await first.stop()
    expect(await scheduledRunsOf(second.store)).toEqual(['sync 07:01 done'])
    expect(steps).toEqual(['begun by the first', 'done by the second'])
    expect(first.lines.filter((line) => line.includes('is away'))).toHaveLength(1)
  })
})
