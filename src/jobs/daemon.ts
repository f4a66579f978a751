/**
 * The daemon: a minute clock, the schedules, and the letters that wait for another attempt. One thing at a
 * time, in this order, so that a report never runs beside the sync it needs.
 */
import cron from 'node-cron'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import { claimLease } from '../store/lease.ts'
import type { Store } from '../store/open.ts'
import { noteSlots, runDue, type Schedule } from './schedule.ts'

export interface Daemon {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  readonly schedules: readonly Schedule[]
  /** What is done each minute after the schedules. */
  readonly afterwards: (signal: AbortSignal) => Promise<void>
}

/**
 * Runs until the signal ends it; resolves when the work in hand is put down.
 * @throws LeadsheetError job_busy when another daemon runs on the same data
 */
export async function runDaemon(daemon: Daemon, signal: AbortSignal): Promise<void> {
  const lease = await claimLease(daemon.store, 'daemon', daemon.now)
  const stop = AbortSignal.any([signal, lease.lost])
  try {
    await untilAborted(stop, () => tick(daemon, stop))
    lease.lost.throwIfAborted()
  } finally {
    await lease.release()
  }
}

/** Ticks at once and then each minute, never two at a time; a tick that node-cron loses is made up for by the next. */
async function untilAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  let inHand: Promise<void> = Promise.resolve()
  let isBusy = false
  const beat = (): void => {
    if (isBusy || signal.aborted) return
    isBusy = true
    inHand = work().finally(() => {
      isBusy = false
    })
  }
  const clock = cron.schedule('* * * * *', beat, { timezone: 'UTC' })
  beat()
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await clock.destroy()
  await inHand
}

async function tick(daemon: Daemon, signal: AbortSignal): Promise<void> {
  try {
    for (const schedule of daemon.schedules) {
      await noteSlots(daemon.store, schedule, daemon.now())
      await runDue(daemon, schedule, signal)
    }
    if (!signal.aborted) await daemon.afterwards(signal)
  } catch (thrown) {
    const at = thrown instanceof LeadsheetError ? { code: thrown.code } : { err: thrown }
    daemon.log.error(at, `${errorText(thrown)}; the next tick, in a minute, tries again`)
  }
}
