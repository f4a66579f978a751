/** Reads what waits in the queue, is in hand, or was given up, over the store's own connections. */
import { fromKysely, PgBoss } from 'pg-boss'
import type { Store } from '../store/db/store.ts'
import { DEAD_LETTERS, JOB_KINDS, jobSchemaOf } from './pg-boss.ts'
import type { JobKind } from './queue.ts'

export interface QueueCounts {
  readonly queue: JobKind
  /** Also those whose time has not come; a worker counts them every few seconds. */
  readonly waiting: number
  readonly active: number
  /** Given up after all their tries. */
  readonly dead: number
}

export interface DeadJob {
  readonly id: string
  readonly queue: string
  readonly data: object
  readonly diedAt: Date
  readonly tries: number
  /** The message of the last error. */
  readonly problem: string
}

/** Null where the store is a file, and jobs are done by its one daemon; empty before a worker has run. */
export async function countJobs(store: Pick<Store, 'db' | 'place'>): Promise<QueueCounts[] | null> {
  const boss = look(store)
  if (boss === null) return null
  if (!(await boss.isInstalled())) return []
  const queues = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  const { destinations } = await boss.previewRedrive(DEAD_LETTERS)
  return JOB_KINDS.map((queue) => ({
    queue,
    waiting: queues.get(queue)?.queuedCount ?? 0,
    active: queues.get(queue)?.activeCount ?? 0,
    dead: destinations.find(({ name }) => name === queue)?.count ?? 0,
  }))
}

/** The oldest first; null as for {@link countJobs}. */
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
 * Has them done again.
 * @param ids all where there are none
 * @returns how many
 */
export async function retryDeadJobs(
  store: Pick<Store, 'db' | 'place'>,
  ids: readonly string[],
): Promise<number> {
  const boss = look(store)
  if (boss === null || !(await boss.isInstalled())) return 0
  return boss.redrive(DEAD_LETTERS, ids.length === 0 ? {} : { ids: [...ids] })
}

/** Never started: it looks after nothing, and opens no connection. */
function look({ db, place }: Pick<Store, 'db' | 'place'>): PgBoss | null {
  return place.kind === 'postgres' ? new PgBoss({ db: fromKysely(db), schema: jobSchemaOf(place) }) : null
}

function problemOf(output: object | null): string {
  if (output === null) return ''
  if ('message' in output) return String(output.message)
  return 'value' in output ? problemOf(Object(output.value)) : ''
}
