/**
 * The daemon as one of several on a store that they share: each minute one of them notes what has come due, and the
 * queue says who runs it. Each gives signs of life of its own.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LeadsheetError } from '../errors.ts'
import type { Job, Queue } from '../queue/queue.ts'
import type { QueueData } from '../queue/queues.ts'
import { claimLease, deleteGoneLeases, type Lease } from '../store/schedule/lease.ts'
import { endUnknownScheduledRuns } from '../store/schedule/scheduled-run.ts'
import { type Daemon, noteDue, type StartedDaemon } from './daemon.ts'
import { logFailure } from './schedule/job-failure.ts'
import type { Lane } from './schedule/lane.ts'
import { openPulse, type Pulse } from './schedule/pulse.ts'
import { type DueDeps, type Ran, runDue } from './schedule/run-scheduled.ts'
import { aborted } from './schedule/shared-lane.ts'
import { listDueLeases, mayBegin } from './schedule/start-order.ts'
import { SYNC_LEASE } from './sync/run-sync.ts'

const TICK_MS = 60_000
/** Another worker may have noted the minutes meanwhile; a second time costs nothing. */
const CLOCK_MAX_MS = 150_000
/** Somebody else has the lease: a command by hand, or a worker that was killed a moment ago. */
const BUSY_AGAIN_SECONDS = 5

export interface Worker extends Daemon {
  readonly queue: Queue
  /** What each worker does for its own machine, each minute. */
  readonly own: Lane
}

/** With the same face as the daemon that is alone; to be given to {@link keepBeating}. */
export async function startWorker(worker: Worker, signal: AbortSignal): Promise<StartedDaemon> {
  const { store, now, schedules, post, events, own, queue } = worker
  await store.write((trx) => deleteGoneLeases(trx, 'daemon', now()))
  // Held by each that runs, so that it is seen that one does; nobody else wants it.
  const claim = (): Promise<Lease> => claimLease(store, `daemon:${randomUUID()}`, now)
  let lease = await claim()
  /** Who was taken for gone, since its machine slept or PostgreSQL was away, is seen again. */
  const keepLease = async (): Promise<void> => {
    if (!lease.lost.aborted) return
    await lease.release()
    lease = await claim()
  }
  const scheduledRuns = createScheduledRunRunner(worker)
  let notedMs = worker.monotonicMs()
  // Also where it cannot go on after all, such as without its pages.
  const end = new AbortController()
  const until = AbortSignal.any([signal, end.signal])
  /** Where the clock of PostgreSQL was set back, its queue has had the minutes that come a second time. */
  const wakeClock = async (): Promise<void> => {
    if (worker.monotonicMs() - notedMs <= CLOCK_MAX_MS) return
    notedMs = worker.monotonicMs()
    await queue.send('clock', {}, { key: 'clock' })
  }
  let pulse: Pulse
  let stopped: Promise<unknown>
  try {
    const names = schedules.map(({ name }) => name)
    await store.write((trx) => endUnknownScheduledRuns(trx, names, now().toISOString()))
    pulse = await openPulse(worker)
    await queue.sendEachMinute('clock')
    const taking = [
      await queue.work('clock', { concurrency: 1 }, () => {
        notedMs = worker.monotonicMs()
        return noteMinute(worker)
      }),
      await queue.work('scheduled_run', { concurrency: 1 }, scheduledRuns.run),
    ]
    stopped = aborted(until).then(() => Promise.all(taking.map((each) => each.stop())))
    await queue.send('clock', {}, { key: 'clock' })
  } catch (thrown) {
    await lease.release()
    throw thrown
  }
  const lanes = [own, post, events]
  for (const lane of lanes) lane.open(until)
  let tickedMs = worker.monotonicMs()
  return {
    signal: until,
    poke() {
      void quietly(worker, () => sendDue(worker))
      for (const lane of lanes) lane.poke()
    },
    async tick() {
      tickedMs = worker.monotonicMs()
      await quietly(worker, pulse.beat)
      await quietly(worker, keepLease)
      await quietly(worker, wakeClock)
      own.poke()
    },
    sinceTickMs: () => worker.monotonicMs() - tickedMs,
    inHand: () =>
      [
        scheduledRuns.running(),
        post.isBusy() ? 'messages and notices' : null,
        events.isBusy() ? 'events' : null,
      ].filter((each) => each !== null),
    async idle() {
      for (const lane of lanes) await lane.idle()
    },
    async stop() {
      end.abort(new Error('the worker stops'))
      await stopped
      for (const lane of lanes) await lane.idle()
      await quietly(worker, pulse.end)
      await quietly(worker, () => lease.release())
    },
  }
}

/** Ticks at once and then each minute until it has to stop, never two at a time. */
export async function keepBeating({ signal, tick }: StartedDaemon): Promise<void> {
  while (!signal.aborted) {
    const began = performance.now()
    await tick()
    const restMs = Math.max(0, TICK_MS - (performance.now() - began))
    await delay(restMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Of all schedules, whoever else does it: what was noted already is not noted again. */
async function noteMinute(worker: Worker): Promise<void> {
  for (const schedule of worker.schedules) await quietly(worker, () => noteDue(worker, schedule))
  await sendDue(worker)
  for (const lane of [worker.post, worker.events]) lane.poke()
}

async function sendDue({ store, now, schedules, queue }: Worker): Promise<void> {
  await sendScheduledRuns(queue, await listDueLeases(store.db, schedules, now()))
}

async function sendScheduledRuns(queue: Queue, leases: readonly string[]): Promise<void> {
  await queue.sendAll(
    'scheduled_run',
    leases.map((lease) => ({ data: { lease }, key: lease })),
  )
}

interface ScheduledRunner {
  readonly run: (job: Job<QueueData['scheduled_run']>) => Promise<void>
  readonly running: () => string | null
}

function createScheduledRunRunner(worker: Worker): ScheduledRunner {
  const { schedules, events, queue, now } = worker
  const deps: DueDeps = {
    ...worker,
    mayBegin: (db, schedule) => mayBegin(db, schedules, schedule, now()),
  }
  let running: string | null = null
  return {
    running: () => running,
    async run({ data: { lease }, signal }) {
      const ran = new Set<Ran>()
      for (const schedule of schedules.filter(({ leaseName }) => leaseName === lease)) {
        if (signal.aborted) return
        running = schedule.name
        try {
          ran.add(await runDue(deps, schedule, signal))
        } catch (thrown) {
          if (!(thrown instanceof LeadsheetError && thrown.code === 'job_busy')) throw thrown
          await queue.send('scheduled_run', { lease }, { key: lease, afterSeconds: BUSY_AGAIN_SECONDS })
        } finally {
          running = null
        }
      }
      if (ran.has('over') || ran.has('waits')) events.poke()
      const waiting = await listWaiting(worker, lease, ran)
      await sendScheduledRuns(queue, waiting)
    },
  }
}

/** What was kept waiting by what ran. Two reports that are held would else have one another asked for ever. */
async function listWaiting(
  { store, schedules, now }: Worker,
  lease: string,
  ran: ReadonlySet<Ran>,
): Promise<readonly string[]> {
  if (!ran.has('over') && !ran.has('waits')) return []
  const due = (await listDueLeases(store.db, schedules, now())).filter((name) => name !== lease)
  const mayBeAny = ran.has('over') || lease === SYNC_LEASE
  return mayBeAny ? due : due.filter((name) => name === SYNC_LEASE)
}

/** What a worker meets must not end it; that PostgreSQL is away is told by the queue, once. */
async function quietly({ log }: Worker, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError && thrown.code === 'store_unreachable')) logFailure(log, thrown)
  }
}
