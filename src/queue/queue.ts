/**
 * The queue of the workers: pg-boss, in a schema of its own beside that of the store. A job that throws is tried again
 * with growing pauses and then is a dead letter; one whose worker is gone is taken by another.
 */
import { randomUUID } from 'node:crypto'
import { PgBoss } from 'pg-boss'
import { errorText } from '../errors.ts'
import type { Log } from '../log.ts'
import type { PostgresPlace } from '../store/db/postgres.ts'
import { postgresFailure } from '../store/db/postgres-driver.ts'
import { jobSchemaOf } from './job-schema.ts'
import { watchOutages } from './outage.ts'
import { DEAD_LETTERS, QUEUE_NAMES, QUEUES, type QueueData, type QueueName } from './queues.ts'

export interface Job<T> {
  readonly id: string
  readonly data: T
  /** 1 for the first time. */
  readonly attempt: number
  /** Aborted when the work has to stop, also because another worker has the job by now. */
  readonly signal: AbortSignal
}

export interface SendOptions {
  /** See {@link QUEUES} for how many of one there may be; without it a job is one of its own. */
  readonly key?: string
  /** Not sooner than in so many seconds, by PostgreSQL's clock: those of workers differ. */
  readonly afterSeconds?: number
  /** Those of a higher one are taken first; 0 unless told otherwise. */
  readonly priority?: number
}

export interface JobToSend<N extends QueueName> extends SendOptions {
  readonly data: QueueData[N]
}

type DoJob<N extends QueueName> = (job: Job<QueueData[N]>) => Promise<void>

export interface TakingJobs {
  /** Takes no other one, and resolves when those in hand, whose signals are aborted, are put down. */
  stop(): Promise<void>
}

export interface Queue extends AsyncDisposable {
  /** @returns whether it was sent: not where as many of its key as may be are there */
  send<N extends QueueName>(queue: N, data: QueueData[N], options?: SendOptions): Promise<boolean>
  sendAll<N extends QueueName>(queue: N, jobs: readonly JobToSend<N>[]): Promise<void>
  /** From now on, as long as any worker runs: a job at the beginning of each minute, for whichever takes it. */
  sendEachMinute(queue: 'clock'): Promise<void>
  /**
   * Takes jobs, so many at once, until it is stopped. One that was put down since it had to stop goes back.
   */
  work<N extends QueueName>(
    queue: N,
    options: { readonly concurrency: number },
    doJob: DoJob<N>,
  ): Promise<TakingJobs>
}

const CONNECTIONS_MAX = 4
/** A worker without a sign of life for so long has lost its jobs. */
const HEARTBEAT_SECONDS = 12
const HEARTBEAT_REFRESH_SECONDS = 4
/** How often it is looked for such workers, for jobs whose time has come, and for minutes that have begun. */
const LOOK_SECONDS = 5
const POLL_SECONDS = 2

const JOB_OPTIONS = {
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // As long as pg-boss allows: a first load takes hours, and its worker gives signs of life.
  expireInSeconds: 86_399,
  retryLimit: 20,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 10,
  retentionSeconds: 14 * 86_400,
  deleteAfterSeconds: 3_600,
  deadLetter: DEAD_LETTERS,
} as const

/** @throws LeadsheetError store_unreachable, store_refused */
export async function openQueue(place: PostgresPlace, log: Log): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: place.url,
    schema: jobSchemaOf(place),
    application_name: 'leadsheet jobs',
    max: CONNECTIONS_MAX,
    useListenNotify: true,
    superviseIntervalSeconds: LOOK_SECONDS,
    monitorIntervalSeconds: LOOK_SECONDS,
    queueCacheIntervalSeconds: LOOK_SECONDS,
    cronMonitorIntervalSeconds: LOOK_SECONDS,
    cronWorkerIntervalSeconds: 1,
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
  const telling = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((thrown: unknown) => {
      throw postgresFailure(place.name, thrown) ?? thrown
    })
  return {
    async send(queue, data, options = {}) {
      return (await telling(boss.send(queue, data, jobOptions(queue, options)))) !== null
    },
    async sendAll(queue, jobs) {
      if (jobs.length === 0) return
      const all = jobs.map(({ data, ...options }) => ({ data, ...jobOptions(queue, options) }))
      await telling(boss.insert(queue, all))
    },
    sendEachMinute: (queue) =>
      telling(boss.schedule(queue, '* * * * *', {}, { ...jobOptions(queue, { key: queue }), tz: 'UTC' })),
    work: (queue, { concurrency }, doJob) => takeJobs(boss, log, queue, concurrency, doJob),
    [Symbol.asyncDispose]: () => boss.stop({ timeout: 1_000 }),
  }
}

async function createQueues(boss: PgBoss): Promise<void> {
  const there = new Set((await boss.getQueues()).map(({ name }) => name))
  if (!there.has(DEAD_LETTERS)) await boss.createQueue(DEAD_LETTERS)
  for (const name of QUEUE_NAMES) {
    if (there.has(name)) await boss.updateQueue(name, { ...JOB_OPTIONS, notify: true })
    else await boss.createQueue(name, { ...JOB_OPTIONS, notify: true, policy: policyOf(name) })
  }
}

function policyOf(queue: QueueName): 'short' | 'exclusive' {
  return QUEUES[queue].keys === 'lane' ? 'short' : 'exclusive'
}

/** What keeps jobs of one key from running beside each other, in all workers. */
function fetchOptions(queue: QueueName): { groupConcurrency?: number } {
  return QUEUES[queue].keys === 'lane' ? { groupConcurrency: 1 } : {}
}

function jobOptions(queue: QueueName, { key, afterSeconds, priority }: SendOptions) {
  return {
    singletonKey: key ?? randomUUID(),
    ...(key !== undefined && QUEUES[queue].keys === 'lane' && { group: { id: key } }),
    ...(afterSeconds !== undefined && { startAfter: afterSeconds }),
    ...(priority !== undefined && { priority }),
  }
}

interface Taken<T> {
  readonly id: string
  readonly data: T
  readonly retryCount: number
}

async function takeJobs<N extends QueueName>(
  boss: PgBoss,
  log: Log,
  queue: N,
  concurrency: number,
  doJob: DoJob<N>,
): Promise<TakingJobs> {
  const stopping = new AbortController()
  const workers: string[] = []
  const options = {
    pollingIntervalSeconds: POLL_SECONDS,
    notifyPollingIntervalSeconds: POLL_SECONDS,
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
    ...fetchOptions(queue),
  }
  for (let count = 0; count < concurrency; count++) {
    const id = await boss.work<QueueData[N]>(queue, options, async ([job]) => {
      if (job === undefined) return
      try {
        const signal = AbortSignal.any([job.signal, stopping.signal])
        await doTelling(log, queue, job, signal, doJob)
      } finally {
        // Else it would wait before it looks for the next one.
        boss.notifyWorker(id)
      }
    })
    workers.push(id)
  }
  return {
    async stop() {
      stopping.abort(new Error('the worker stops'))
      await Promise.all(workers.map((id) => boss.offWork(queue, { id, wait: true })))
    },
  }
}

/** @throws what the job threw, or why it was put down */
async function doTelling<N extends QueueName>(
  log: Log,
  queue: N,
  { id, data, retryCount }: Taken<QueueData[N]>,
  signal: AbortSignal,
  doJob: DoJob<N>,
): Promise<void> {
  const attempt = retryCount + 1
  try {
    await doJob({ id, data, attempt, signal })
  } catch (thrown) {
    if (!signal.aborted) log.warn({ queue, job: id, attempt }, `a job failed: ${errorText(thrown)}`)
    throw thrown
  }
  signal.throwIfAborted()
}
