/**
 * The queue that several workers share: pg-boss, in a database schema of its own. A job that throws is tried
 * again with growing backoff. After the last try it is given up. If a worker dies, another worker takes its
 * job.
 */
import { once } from 'node:events'
import type { Job, PgBoss } from 'pg-boss'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Log } from '../log.ts'
import { loadPackage } from '../packages.ts'
import type { PostgresPlace } from '../store/db/postgres.ts'
import { postgresFailure } from '../store/db/postgres-failure.ts'
import {
  type DoJob,
  type JobData,
  type JobKind,
  type NewJob,
  type Queue,
  SHARED_JOBS,
  type Working,
  type WorkOptions,
} from './queue.ts'

/** Contains the name of the store's schema, so that several installations do not share jobs. */
export function jobSchemaOf({ schema }: PostgresPlace): string {
  return `${schema}_jobs`
}

const CONNECTIONS_MAX = 4
/** The seconds without a heartbeat after which a worker loses its jobs to other workers. */
const HEARTBEAT_SECONDS = 12
const HEARTBEAT_REFRESH_SECONDS = 4
/** The interval in seconds at which pg-boss looks for jobs of dead workers. */
const LOOK_SECONDS = 5
/** The interval in seconds at which pg-boss looks for jobs that are due. */
const POLL_SECONDS = 2

/** Each poll fails during an outage, but the outage is logged only this often. */
const LOG_AGAIN_MS = 60_000
/** Ignored, because the connection reopens by itself and workers poll meanwhile. */
const LISTENING = /LISTEN\/NOTIFY/

const JOB_OPTIONS = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // This is the longest time that pg-boss allows for a job, because a first load takes hours. The heartbeats
  // of the worker show that the job still runs.
  expireInSeconds: 86_399,
  retryLimit: 20,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 10,
  retentionSeconds: 14 * 86_400,
  deleteAfterSeconds: 3_600,
} as const

/** @throws LeadsheetError store_unreachable, store_refused */
export async function openPgBossQueue(place: PostgresPlace, log: Log): Promise<Queue> {
  const { PgBoss } = loadPackage('pg-boss')
  const boss = new PgBoss({
    connectionString: place.url,
    schema: jobSchemaOf(place),
    application_name: 'leadsheet jobs',
    max: CONNECTIONS_MAX,
    schedule: false,
    useListenNotify: true,
    superviseIntervalSeconds: LOOK_SECONDS,
    monitorIntervalSeconds: LOOK_SECONDS,
    queueCacheIntervalSeconds: LOOK_SECONDS,
    maintenanceIntervalSeconds: 600,
  })
  watchOutages(boss, place.name, log)
  try {
    await boss.start()
    await createQueues(boss)
  } catch (thrown) {
    await boss.stop({ graceful: false })
    throw postgresFailure(place.name, thrown) ?? thrown
  }
  const enqueue = async <K extends JobKind>(kind: K, jobs: readonly NewJob<K>[]): Promise<void> => {
    if (jobs.length === 0) return
    await boss
      .insert(
        kind,
        jobs.map(({ data, key, afterSeconds = 0 }) => {
          return { data, singletonKey: key, group: { id: key }, startAfter: afterSeconds }
        }),
      )
      .catch((thrown: unknown) => {
        throw postgresFailure(place.name, thrown) ?? thrown
      })
  }
  return {
    enqueue,
    wake: (kind) => {
      // Ignores an outage: the daemon wakes the task again each minute, and `watchOutages` logs outages.
      enqueue(kind, [{ key: kind, data: {} }]).catch((thrown: unknown) => {
        const isAway = thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'
        if (!isAway) log.error({ queue: kind, err: thrown }, errorText(thrown))
      })
    },
    work: (kind, options, doJob) => takeJobs(boss, log, kind, options, doJob),
    [Symbol.asyncDispose]: () => boss.stop({ timeout: 1_000 }),
  }
}

async function createQueues(boss: PgBoss): Promise<void> {
  const there = new Set((await boss.getQueues()).map(({ name }) => name))
  for (const name of SHARED_JOBS) {
    if (there.has(name)) await boss.updateQueue(name, { ...JOB_OPTIONS, notify: true })
    else await boss.createQueue(name, { ...JOB_OPTIONS, notify: true, policy: 'short' })
  }
}

function takeJobs<K extends JobKind>(
  boss: PgBoss,
  log: Log,
  kind: K,
  { concurrency, signal }: WorkOptions,
  doJob: DoJob<K>,
): Working {
  const inFlight = new Set<Promise<void>>()
  const options = {
    pollingIntervalSeconds: POLL_SECONDS,
    notifyPollingIntervalSeconds: POLL_SECONDS,
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
    // Prevents two jobs with the same key from running at the same time, even in different workers.
    groupConcurrency: 1,
  }
  const takeOneByOne = async (): Promise<void> => {
    const id = await boss.work<JobData[K]>(kind, options, async ([job]) => {
      if (job === undefined) return
      const ended = doLogged(log, kind, job, AbortSignal.any([job.signal, signal]), doJob)
      const settled = ended.catch(() => undefined)
      inFlight.add(settled)
      try {
        await ended
      } finally {
        inFlight.delete(settled)
        // Makes the worker look for the next job at once instead of after a wait.
        boss.notifyWorker(id)
      }
    })
    if (!signal.aborted) await once(signal, 'abort')
    await boss.offWork(kind, { id, wait: true })
  }
  const ended = Promise.all(Array.from({ length: concurrency }, takeOneByOne)).catch((thrown: unknown) =>
    log.error({ queue: kind, err: thrown }, errorText(thrown)),
  )
  return {
    isBusy: () => inFlight.size > 0,
    async idle() {
      if (signal.aborted) await ended
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
  }
}

/** Throws again what the job threw, or the reason why it was stopped. */
async function doLogged<K extends JobKind>(
  log: Log,
  queue: K,
  { id, data, retryCount }: Job<JobData[K]>,
  signal: AbortSignal,
  doJob: DoJob<K>,
): Promise<void> {
  const attempt = retryCount + 1
  try {
    await doJob({ data, attempt, signal })
  } catch (thrown) {
    if (!signal.aborted) log.warn({ queue, job: id, attempt }, `a job failed: ${errorText(thrown)}`)
    throw thrown
  }
  signal.throwIfAborted()
}

/** An `error` event without a listener would end the process, although pg-boss recovers by itself. */
function watchOutages(boss: PgBoss, name: string, log: Log): void {
  let loggedAt = Number.NEGATIVE_INFINITY
  boss.on('error', (thrown) => {
    // An error from a worker thread is no instance of Error, but it has the properties of one.
    const error = thrown instanceof Error ? thrown : Object.assign(new Error(), thrown)
    if (LISTENING.test(error.message)) return
    if (!isOutage(name, error)) {
      log.error({ err: error }, `the queue: ${error.message}`)
      return
    }
    if (performance.now() - loggedAt < LOG_AGAIN_MS) return
    loggedAt = performance.now()
    log.warn(
      { code: 'store_unreachable' },
      `${name} is away: ${error.message}; the work goes on when it is back`,
    )
  })
  boss.on('warning', ({ message, data }) => log.warn({ data }, `the queue: ${message}`))
}

function isOutage(name: string, error: Error): boolean {
  const isTold = 'code' in error && error.code === 'store_unreachable'
  return isTold || postgresFailure(name, error)?.code === 'store_unreachable'
}
