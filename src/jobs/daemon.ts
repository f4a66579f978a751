/**
 * The daemon: a minute clock, the schedules, and the letters that wait for another attempt. One thing at a
 * time, in this order, so that a report never runs beside the sync it needs.
 */
import cron from 'node-cron'
import type { Log } from '../log.ts'
import { claimLease, type Lease } from '../store/lease.ts'
import type { Store } from '../store/open.ts'
import { recoverSlots } from '../store/schedule-slot.ts'
import { noteSlots, runDue, type Schedule } from './schedule.ts'

const RENEW_MS = 30_000

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
  const lease = await claimLease(daemon.store, 'daemon', daemon.now())
  const work = new AbortController()
  signal.addEventListener('abort', () => work.abort(signal.reason), { once: true })
  const renewing = setInterval(() => {
    renew(daemon, lease).catch((thrown: unknown) => work.abort(thrown))
  }, RENEW_MS)
  try {
    await daemon.store.write(recoverSlots)
    await untilAborted(work.signal, () => tick(daemon, work.signal))
    if (!signal.aborted) throw work.signal.reason
  } finally {
    clearInterval(renewing)
    await lease.release()
  }
}

/** Ticks at once and then each minute, never two at a time; node-cron's own runs may get lost, ticks need not be kept. */
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
    daemon.log.error({ err: thrown }, 'the tick failed; the next one tries again')
  }
}

async function renew(daemon: Daemon, lease: Lease): Promise<void> {
  await daemon.store.write((trx) => lease.renew(trx, daemon.now()))
}
