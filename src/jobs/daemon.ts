/**
 * The daemon: a minute clock and three lanes. In one the schedules run, one thing at a time and in their order, so that
 * a report never runs beside the sync it needs; meanwhile one delivers messages and notices, and one follows events.
 */
import cron from 'node-cron'
import type { Log } from '../log.ts'
import { claimLease } from '../store/schedule/lease.ts'
import { endUnknownScheduledRuns } from '../store/schedule/scheduled-run.ts'
import { noteScheduledRuns } from './schedule/enqueue-due-runs.ts'
import { logFailure } from './schedule/job-failure.ts'
import { createLane, type Lane } from './schedule/lane.ts'
import { openPulse, type Pulse, type PulseDeps } from './schedule/pulse.ts'
import { runDue } from './schedule/run-scheduled.ts'
import type { Schedule } from './schedule/schedule.ts'

/** A tick that has not come for so long will not come by itself. */
const TICK_MAX_MS = 75_000
const WATCH_MS = 15_000

export interface Daemon extends PulseDeps {
  readonly schedules: readonly Schedule[]
  /** What leaves the house: deliveries, notices. Poked each minute, and whenever there is something to send. */
  readonly post: Lane
  /** What the upstream tells of. Poked each minute, after each sync or report, and whenever an event comes. */
  readonly events: Lane
}

/** A daemon whose clock somebody else winds. */
export interface StartedDaemon {
  /** Aborted when it has to stop, also because another one took over. */
  readonly signal: AbortSignal
  /** To be called each minute: notes what has come, and has all lanes look after it. */
  tick(): Promise<void>
  /** Has all lanes look now after what is due, without waiting for the next tick. */
  poke(): void
  /** Since its last tick began, or it itself, by a clock that nobody sets. */
  sinceTickMs(): number
  /** Such as `sync`, `report:daily`, `messages and notices`, `events`. */
  inHand(): readonly string[]
  /** Resolves when no lane has anything in hand. */
  idle(): Promise<void>
  /**
   * Resolves when the work in hand is put down; the signal must be aborted by then.
   * @throws LeadsheetError job_busy where another daemon took over
   */
  stop(): Promise<void>
}

/** @throws LeadsheetError job_busy when another daemon runs on the same data */
export async function startDaemon(daemon: Daemon, signal: AbortSignal): Promise<StartedDaemon> {
  const { store, log, now, schedules, post, events } = daemon
  const lease = await claimLease(store, 'daemon', now)
  const stop = AbortSignal.any([signal, lease.lost])
  let running: string | null = null
  const work = createLane(log, async (until) => {
    for (const schedule of schedules) {
      if (until.aborted) return
      running = schedule.name
      await quietly(log, { schedule: schedule.name }, () => runDue(daemon, schedule, until))
      running = null
      events.poke()
    }
  })
  let tickedMs = daemon.monotonicMs()
  let pulse: Pulse
  try {
    const names = schedules.map(({ name }) => name)
    await store.write((trx) => endUnknownScheduledRuns(trx, names, now().toISOString()))
    pulse = await openPulse(daemon)
  } catch (thrown) {
    await lease.release()
    throw thrown
  }
  for (const lane of [work, post, events]) lane.open(stop)
  const poke = (): void => {
    for (const lane of [work, post, events]) lane.poke()
  }
  const idle = async (): Promise<void> => {
    await work.idle()
    // Which the work may have poked.
    await post.idle()
    await events.idle()
  }
  return {
    signal: stop,
    poke,
    async tick() {
      tickedMs = daemon.monotonicMs()
      await quietly(log, {}, pulse.beat)
      for (const schedule of schedules)
        await quietly(log, { schedule: schedule.name }, () => noteDue(daemon, schedule))
      poke()
    },
    sinceTickMs: () => daemon.monotonicMs() - tickedMs,
    inHand: () =>
      [running, post.isBusy() ? 'messages and notices' : null, events.isBusy() ? 'events' : null].filter(
        (each) => each !== null,
      ),
    idle,
    async stop() {
      await idle()
      await quietly(log, {}, pulse.end)
      await lease.release()
      lease.lost.throwIfAborted()
    },
  }
}

/**
 * Ticks at once and then each minute until it has to stop, never two at a time; a tick that node-cron loses is made up
 * for by the next. node-cron waits for the minute that the clock showed before it was set back, however long that takes.
 * So a timer that does not go by the clock looks after it, and has it begin anew.
 */
export async function keepTicking({ signal, tick, sinceTickMs }: StartedDaemon): Promise<void> {
  let inHand: Promise<void> | null = null
  const beat = (): void => {
    if (inHand !== null || signal.aborted) return
    inHand = tick().finally(() => {
      inHand = null
    })
  }
  const openClock = () => cron.schedule('* * * * *', beat, { timezone: 'UTC', suppressMissedWarning: true })
  let clock = openClock()
  const watchdog = setInterval(() => {
    if (inHand !== null || sinceTickMs() <= TICK_MAX_MS) return
    void clock.destroy()
    clock = openClock()
    beat()
  }, WATCH_MS)
  beat()
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  clearInterval(watchdog)
  await clock.destroy()
  await inHand
}

/** Notes what has come due, and tells of what was missed. */
export async function noteDue({ store, log, now }: Daemon, schedule: Schedule): Promise<void> {
  const missed = await noteScheduledRuns(store, schedule, now())
  const [first] = missed
  if (first === undefined) return
  const at = {
    schedule: schedule.name,
    scheduledRuns: missed.length,
    from: first.due_at,
    to: missed.at(-1)?.due_at,
  }
  log.warn(at, first.message ?? 'missed')
}

/** What one schedule meets must not keep the others from running; the next tick tries it again. */
async function quietly(
  log: Log,
  at: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    logFailure(log, thrown, at)
  }
}
