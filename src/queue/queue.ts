/**
 * Defines the queue with which the parts of the daemon give jobs to each other: the kinds of jobs and the
 * interface of a queue. This file also has the queue of a single process, which loses its jobs when the
 * process ends. The queue that several workers share is in `pg-boss.ts`.
 */

/** The data of each kind of job. The data must not change when it is written as JSON and read again. */
export interface JobData {
  /** Says that a schedule with this lease (a lock that expires) may have a run that is due. */
  readonly 'scheduled-run': { readonly lease: string }
  readonly outbox: Nothing
  /** Says that the mailbox of bounces may be due to be read. */
  readonly bounces: Nothing
  /** Says that the checks may have new findings for operators. */
  readonly alerts: Nothing
  /** Says that leads named by webhook events may wait to be read. */
  readonly events: Nothing
  /** Says that a snapshot (the copy of the data for analysts) may be due. */
  readonly snapshot: Nothing
}

export type JobKind = keyof JobData

type Nothing = Readonly<Record<string, never>>

/** The kinds of jobs that have no data and only wake a task. */
export type TaskKind = 'outbox' | 'bounces' | 'alerts' | 'events' | 'snapshot'

/** The kinds of jobs that several processes share. Each process runs the other tasks by itself. */
export const SHARED_JOBS: readonly JobKind[] = ['scheduled-run', 'outbox', 'bounces', 'alerts', 'events']

export interface Job<T> {
  readonly data: T
  /** The number of the attempt, 1 for the first. */
  readonly attempt: number
  /** Aborted when the job must stop, for example because another worker now has it. */
  readonly signal: AbortSignal
}

export interface NewJob<K extends JobKind> {
  readonly data: JobData[K]
  /**
   * The key of the job. One job may wait while another with the same key runs, but two never run at the same
   * time: the waiting job handles what came too late for the running job.
   */
  readonly key: string
  /** The queue of a single process drops a job with a wait, because the daemon looks again each minute. */
  readonly afterSeconds?: number
}

export type DoJob<K extends JobKind> = (job: Job<JobData[K]>) => Promise<void>

export interface WorkOptions {
  readonly concurrency: number
  /** The signal that ends the work: it aborts running jobs, and no further jobs are taken. */
  readonly signal: AbortSignal
}

export interface Working {
  isBusy(): boolean
  idle(): Promise<void>
}

export interface Queue extends AsyncDisposable {
  /** Adds the jobs. A job is left out while another with the same key waits. */
  enqueue<K extends JobKind>(kind: K, jobs: readonly NewJob<K>[]): Promise<void>
  /** Wakes a task by adding a job for it; never throws. */
  wake(kind: TaskKind): void
  work<K extends JobKind>(kind: K, options: WorkOptions, doJob: DoJob<K>): Working
}

interface Waiting {
  readonly key: string
  readonly run: () => Promise<void>
}

/** @param onFailure called with the error that a job threw */
export function openInProcessQueue(onFailure: (thrown: unknown, kind: JobKind) => void): Queue {
  /** A job of a kind without a worker is dropped. */
  const adders = new Map<JobKind, (key: string, data: object) => void>()
  const enqueue = <K extends JobKind>(kind: K, jobs: readonly NewJob<K>[]): void => {
    for (const { key, data, afterSeconds = 0 } of jobs) if (afterSeconds === 0) adders.get(kind)?.(key, data)
  }
  return {
    enqueue: async (kind, jobs) => enqueue(kind, jobs),
    wake: (kind) => enqueue(kind, [{ key: kind, data: {} }]),
    work<K extends JobKind>(kind: K, { concurrency, signal }: WorkOptions, doJob: DoJob<K>) {
      const waiting: Waiting[] = []
      const running = new Map<string, Promise<void>>()
      const runNext = (): void => {
        while (!signal.aborted && running.size < concurrency) {
          const next = waiting.findIndex(({ key }) => !running.has(key))
          const [job] = next === -1 ? [] : waiting.splice(next, 1)
          if (job === undefined) return
          const ended = job
            .run()
            .catch((thrown: unknown) => onFailure(thrown, kind))
            .finally(() => {
              running.delete(job.key)
              runNext()
            })
          running.set(job.key, ended)
        }
      }
      adders.set(kind, (key, data) => {
        if (waiting.some((job) => job.key === key)) return
        const run = async (): Promise<void> => doJob({ data: data as JobData[K], attempt: 1, signal })
        waiting.push({ key, run })
        runNext()
      })
      return {
        isBusy: () => running.size > 0,
        async idle() {
          while (running.size > 0) await Promise.all(running.values())
        },
      }
    },
    [Symbol.asyncDispose]: async () => adders.clear(),
  }
}
