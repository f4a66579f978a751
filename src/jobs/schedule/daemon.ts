/**
 * The daemon: ticks each minute, stores which scheduled runs are due, and runs them through a queue. On an
 * SQLite file there is only one daemon; on PostgreSQL the daemon is one of several workers, and the queue
 * distributes the work.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import cron from 'node-cron'
import { LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Job, JobData, Queue } from '../../queue/queue.ts'
import { watchSqlite } from '../../store/db/sqlite.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { claimLease, deleteLostLeases, type Lease } from '../../store/schedule/lease.ts'
import { endUnknownScheduledRuns, isAnyOpen } from '../../store/schedule/scheduled-run.ts'
import type { FaultWatch } from '../alerts/store-fault.ts'
import type { ClockTrust } from './clock-trust.ts'
import { logFailure } from './job-failure.ts'
import { noteScheduledRuns } from './note-due-runs.ts'
import { type Ran, runDue } from './run-scheduled.ts'
import { type Schedule, SYNC_LEASE } from './schedule.ts'
import type { SerialTask } from './serial-task.ts'
import { openUptime, type Uptime, type UptimeDeps } from './uptime.ts'

/** The time without a tick after which the timer of node-cron is restarted. */
const TICK_MAX_MS = 75_000
const WATCH_MS = 15_000
/** The wait while another process holds the lease: a command by hand, or a worker that was just killed. */
const BUSY_AGAIN_SECONDS = 5

export interface Daemon extends UptimeDeps {
  readonly schedules: readonly Schedule[]
  readonly queue: Queue
  /** Sends messages and alerts. Woken each minute, and whenever there is something to send. */
  readonly post: SerialTask
  /** Handles events. Woken each minute, after each sync or report, and when an event arrives. */
  readonly events: SerialTask
  /** The tasks that each worker does for its own machine. They are woken each minute. */
  readonly own?: SerialTask
  readonly faults?: FaultWatch
  /** While it has a doubt, nothing is begun. */
  readonly clockTrust?: ClockTrust
}

export interface StartedDaemon {
  /** Aborted when the daemon has to stop, for example because another one took over. */
  readonly signal: AbortSignal
  /** Must be called each minute. */
  tick(): Promise<void>
  wake(): void
  /** Measured by a clock that nobody can set. */
  sinceTickMs(): number
  inFlight(): readonly string[]
  idle(): Promise<void>
  /**
   * @throws LeadsheetError job_busy if another daemon took over, store_lost if the database's file is gone
   */
  stop(): Promise<void>
}

/**
 * Starts the daemon.
 * @throws LeadsheetError job_busy if another daemon is running on the same SQLite file
 */
export async function startDaemon(daemon: Daemon, signal: AbortSignal): Promise<StartedDaemon> {
  const { store, log, now, schedules, queue, post, events, own } = daemon
  const presence = await claimPresence(store, now)
  const end = new AbortController()
  const until = AbortSignal.any([signal, end.signal, presence.lost])
  let uptime: Uptime
  try {
    const names = schedules.map(({ name }) => name)
    await store.write((trx) => endUnknownScheduledRuns(trx, names, now().toISOString()))
    uptime = await openUptime(daemon)
  } catch (thrown) {
    await presence.release()
    throw thrown
  }
  const runner = createRunner(daemon)
  const running = queue.work('scheduled-run', { concurrency: 1, signal: until }, runner.run)
  const tasks = [...(own ? [own] : []), post, events]
  for (const task of tasks) task.open(until)
  let tickedMs = daemon.monotonicMs()
  const wakeTasks = (): void => {
    for (const task of tasks) task.wake()
  }
  let loss: LeadsheetError | undefined
  const onLost = (thrown: LeadsheetError): void => {
    loss = thrown
    end.abort(thrown)
  }
  const tryWork: TryWork = (work, at = {}) => quietly(log, at, work, onLost)
  const recordHeartbeat = async (): Promise<void> => {
    try {
      await uptime.recordHeartbeat()
      daemon.faults?.noteWritten()
    } catch (thrown) {
      await daemon.faults?.note(thrown)
      throw thrown
    }
  }
  let enqueuing: Promise<void> | null = null
  const idle = async (): Promise<void> => {
    await enqueuing
    await running.idle()
    // The tasks are awaited last, because scheduled runs may wake them.
    for (const task of tasks) await task.idle()
  }
  return {
    signal: until,
    wake() {
      enqueuing = tryWork(runner.enqueueDue)
      wakeTasks()
    },
    async tick() {
      tickedMs = daemon.monotonicMs()
      await tryWork(recordHeartbeat)
      await tryWork(presence.keep)
      if (daemon.clockTrust) await tryWork(daemon.clockTrust.look)
      if (hasDoubt(daemon)) return post.wake()
      for (const schedule of schedules)
        await tryWork(() => noteDue(daemon, schedule), { schedule: schedule.name })
      await tryWork(runner.enqueueDue)
      wakeTasks()
    },
    sinceTickMs: () => daemon.monotonicMs() - tickedMs,
    inFlight: () =>
      [
        runner.running(),
        post.isBusy() ? 'messages and alerts' : null,
        events.isBusy() ? 'events' : null,
      ].filter((each) => each !== null),
    idle,
    async stop() {
      end.abort(new Error('the daemon stops'))
      await idle()
      await tryWork(uptime.end)
      await tryWork(presence.release)
      await daemon.faults?.note(loss)
      presence.lost.throwIfAborted()
      if (loss !== undefined) throw loss
    },
  }
}

/**
 * Ticks at once and then each minute until the daemon stops. Two ticks never run at the same time. If the
 * system clock is set back, node-cron waits until the clock shows the old time again. A timer that does not
 * use this clock notices the missing ticks and restarts node-cron.
 */
export async function keepTicking({ signal, tick, sinceTickMs }: StartedDaemon): Promise<void> {
  let inFlight: Promise<void> | null = null
  const startTick = (): void => {
    if (inFlight !== null || signal.aborted) return
    inFlight = tick().finally(() => {
      inFlight = null
    })
  }
  const openClock = () =>
    cron.schedule('* * * * *', startTick, { timezone: 'UTC', suppressMissedWarning: true })
  let clock = openClock()
  const watchdog = setInterval(() => {
    if (inFlight !== null || sinceTickMs() <= TICK_MAX_MS) return
    void clock.destroy()
    clock = openClock()
    startTick()
  }, WATCH_MS)
  startTick()
  if (!signal.aborted) await once(signal, 'abort')
  clearInterval(watchdog)
  await clock.destroy()
  await inFlight
}

interface Presence {
  /** Never aborted on PostgreSQL, where several workers may run. */
  readonly lost: AbortSignal
  /** Claims the lease again if it was lost because the machine slept or PostgreSQL could not be reached. */
  keep(): Promise<void>
  release(): Promise<void>
}

async function claimPresence(store: Store, now: () => Date): Promise<Presence> {
  if (store.place.kind === 'sqlite') {
    const { lost, release } = await claimLease(store, 'daemon', now)
    watchSqlite(store.db)
    return { lost, keep: async () => undefined, release }
  }
  await store.write((trx) => deleteLostLeases(trx, 'daemon', now()))
  const claim = (): Promise<Lease> => claimLease(store, `daemon:${randomUUID()}`, now)
  let lease = await claim()
  return {
    lost: new AbortController().signal,
    async keep() {
      if (!lease.lost.aborted) return
      await lease.release()
      lease = await claim()
    },
    release: () => lease.release(),
  }
}

/** Stores due runs and logs missed ones. A run that another worker has already stored is not logged. */
async function noteDue({ store, log, now }: Daemon, schedule: Schedule): Promise<void> {
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

function hasDoubt({ clockTrust }: Daemon): boolean {
  return (clockTrust?.doubt() ?? null) !== null
}

/**
 * Creates the function that runs the next due run of each schedule that shares a lease. Each daemon works
 * through one lease after the other. Between two runs of one lease, every other due lease has its turn, so that
 * syncs that last longer than their interval keep no report waiting.
 */
function createRunner(daemon: Daemon) {
  const { store, log, schedules, events, queue, now } = daemon
  const isShared = store.place.kind === 'postgres'
  const listDue = (): Promise<readonly string[]> => listDueLeases(store.db, schedules, now())
  const enqueue = (leases: readonly string[], afterSeconds = 0): Promise<void> =>
    queue.enqueue(
      'scheduled-run',
      leases.map((lease) => ({ data: { lease }, key: lease, ...(afterSeconds > 0 && { afterSeconds }) })),
    )
  let running: string | null = null
  let runningLease: string | null = null
  return {
    running: (): string | null => running,
    // The running lease is left out: it is added behind the others once its run has ended.
    enqueueDue: async () =>
      hasDoubt(daemon) ? undefined : enqueue((await listDue()).filter((lease) => lease !== runningLease)),
    async run({ data: { lease }, signal }: Job<JobData['scheduled-run']>) {
      if (hasDoubt(daemon)) return
      const ran = new Set<Ran>()
      for (const schedule of schedules.filter(({ leaseName }) => leaseName === lease)) {
        if (signal.aborted) return
        ;[running, runningLease] = [schedule.name, lease]
        try {
          ran.add(await runDue(daemon, schedule, signal))
        } catch (thrown) {
          const isBusy = thrown instanceof LeadsheetError && thrown.code === 'job_busy'
          if (isLost(thrown)) throw thrown
          // On PostgreSQL the queue tries a failed job again.
          if (isShared && !isBusy) throw thrown
          if (!isShared) logFailure(log, thrown, { schedule: schedule.name })
          await enqueue([lease], BUSY_AGAIN_SECONDS)
        } finally {
          running = runningLease = null
        }
      }
      if (!ran.has('over') && !ran.has('waits')) return
      events.wake()
      // Two held reports would wake each other for ever. Therefore only a finished run or a sync may wake
      // other reports.
      const mayBeAny = ran.has('over') || lease === SYNC_LEASE
      const due = await listDue()
      const others = due.filter((name) => name !== lease)
      await enqueue(mayBeAny ? others : others.filter((name) => name === SYNC_LEASE))
      if (ran.has('over')) await enqueue(due.filter((name) => name === lease))
    },
  }
}

type TryWork = (work: () => Promise<unknown>, at?: Readonly<Record<string, string>>) => Promise<void>

/**
 * Runs `work` and logs its failure, so that the failure does not stop other work.
 * @param onLost called instead if the database's file is gone: then the daemon has to stop
 */
async function quietly(
  log: Log,
  at: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
  onLost: (thrown: LeadsheetError) => void,
): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    if (isLost(thrown)) return onLost(thrown)
    // The job queue (`watchOutages`) has already logged the outage of PostgreSQL.
    if (!(thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'))
      logFailure(log, thrown, at)
  }
}

function isLost(thrown: unknown): thrown is LeadsheetError {
  return thrown instanceof LeadsheetError && thrown.code === 'store_lost'
}

async function listDueLeases(db: Db, schedules: readonly Schedule[], now: Date): Promise<readonly string[]> {
  const due = new Set<string>()
  for (const { name, leaseName } of schedules)
    if (await isAnyOpen(db, name, now.toISOString())) due.add(leaseName)
  return [...due]
}
