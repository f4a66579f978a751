/**
 * Counts and lists the background jobs that wait, run or were given up. The queries use the connections of
 * the store.
 */
import type { PgBoss } from 'pg-boss'
import { loadPackage } from '../packages.ts'
import type { Store } from '../store/db/store.ts'
import { DEAD_LETTERS, jobSchemaOf } from './pg-boss.ts'
import { type JobKind, SHARED_JOBS } from './queue.ts'

export interface QueueCounts {
  readonly queue: JobKind
  /** The number of waiting jobs, deferred jobs included. A worker updates the number every few seconds. */
  readonly waiting: number
  readonly active: number
  /** The number of jobs that were given up after all tries. */
  readonly dead: number
}

export interface DeadJob {
  readonly id: string
  readonly queue: string
  readonly data: object
  readonly diedAt: Date
  readonly tries: number
  /** The text of the job's last error. */
  readonly problem: string
}

/**
 * Returns the numbers of jobs of each kind. The list is empty before a worker has run, and null for an SQLite
 * store, because its single daemon keeps the jobs in memory.
 */
export async function countJobs(store: Pick<Store, 'db' | 'place'>): Promise<QueueCounts[] | null> {
  const boss = look(store)
  if (boss === null) return null
  if (!(await boss.isInstalled())) return []
  const queues = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  const { destinations } = await boss.previewRedrive(DEAD_LETTERS)
  return SHARED_JOBS.map((queue) => ({
    queue,
    waiting: queues.get(queue)?.queuedCount ?? 0,
    active: queues.get(queue)?.activeCount ?? 0,
    dead: destinations.find(({ name }) => name === queue)?.count ?? 0,
  }))
}

/** Lists the jobs that were given up, the oldest first; null for an SQLite store. */
export async function listDeadJobs(store: Pick<Store, 'db' | 'place'>): Promise<DeadJob[] | null> {
  const boss = look(store)
  if (boss === null) return null
  if (!(await boss.isInstalled())) return []
  const jobs = await boss.findJobs<object>(DEAD_LETTERS, { queued: true })
  return jobs
    .map(({ id, sourceName, data, createdOn, sourceRetryCount, sourceOutput }) => ({
      ...{ id, queue: sourceName ?? '', data, diedAt: createdOn },
      ...{ tries: (sourceRetryCount ?? 0) + 1, problem: problemOf(sourceOutput) },
    }))
    .sort((a, b) => a.diedAt.getTime() - b.diedAt.getTime())
}

/**
 * Puts jobs that were given up back into their queues.
 * @param ids the ids of the jobs; if empty, all jobs that were given up
 * @returns the number of jobs that were queued
 */
export async function retryDeadJobs(
  store: Pick<Store, 'db' | 'place'>,
  ids: readonly string[],
): Promise<number> {
  const boss = look(store)
  if (boss === null || !(await boss.isInstalled())) return 0
  return boss.redrive(DEAD_LETTERS, ids.length === 0 ? {} : { ids: [...ids] })
}

/**
 * Returns a pg-boss client; null for an SQLite store. The client is never started, so it does no maintenance
 * and opens no connection.
 */
function look({ db, place }: Pick<Store, 'db' | 'place'>): PgBoss | null {
  if (place.kind !== 'postgres') return null
  const { fromKysely, PgBoss } = loadPackage('pg-boss')
  return new PgBoss({ db: fromKysely(db), schema: jobSchemaOf(place) })
}

function problemOf(output: object | null): string {
  if (output === null) return ''
  if ('message' in output) return String(output.message)
  return 'value' in output ? problemOf(Object(output.value)) : ''
}
