/** The workers that share a store, what each has in hand, and the jobs that wait for them. */
import { listWorkers } from '../../../jobs/schedule/worker-list.ts'
import { countJobs, type QueueCounts } from '../../../queue/look.ts'
import type { Store } from '../../../store/db/store.ts'
import type { Clock, Moment } from '../moment.ts'
import { count } from '../numbers.ts'

export interface WorkersView {
  readonly workers: readonly WorkerView[]
  readonly waiting: string
  readonly active: string
  /** Such as `2 of letter`. */
  readonly dead: readonly string[]
}

interface WorkerView {
  readonly id: string
  readonly host: string
  readonly pid: string
  readonly since: Moment
  readonly sign: Moment
  readonly inHand: string
}

/** Null where the store is a file, and one daemon does it all. */
export async function readWorkers(
  store: Pick<Store, 'db' | 'place'>,
  clock: Clock,
): Promise<WorkersView | null> {
  const jobs = await countJobs(store)
  if (jobs === null) return null
  const workers = await listWorkers(store.db, clock.now)
  const sum = (key: 'waiting' | 'active'): string =>
    count(jobs.reduce((total: number, queue: QueueCounts) => total + queue[key], 0))
  return {
    workers: workers.map(({ host, pid, since, lastBeat, inHand }) => ({
      ...{ id: `${host}-${pid}`, host, pid: String(pid) },
      ...{ since: clock.at(since), sign: clock.ago(lastBeat), inHand: inHand.join(', ') },
    })),
    waiting: sum('waiting'),
    active: sum('active'),
    dead: jobs.filter(({ dead }) => dead > 0).map(({ queue, dead }) => `${count(dead)} of ${queue}`),
  }
}
