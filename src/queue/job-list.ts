/** Counts the background jobs that wait, run or were given up, by the connections of the store. */
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
  readonly dead: number
}

/** Empty before a worker has run, null for an SQLite store, whose daemon keeps the jobs in memory. */
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

/** Null for an SQLite store. Never started, so it does no maintenance and opens no connection. */
function look({ db, place }: Pick<Store, 'db' | 'place'>): PgBoss | null {
  if (place.kind !== 'postgres') return null
  const { fromKysely, PgBoss } = loadPackage('pg-boss')
  return new PgBoss({ db: fromKysely(db), schema: jobSchemaOf(place) })
}
