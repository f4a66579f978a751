/**
 * The queue of a single process. Jobs run in the order in which they were added and are lost when the process
 * ends. The queue does not repeat a failed job; the next tick adds that job again from the store.
 */
import { randomUUID } from 'node:crypto'
import {
  type DoJob,
  type JobData,
  type JobKind,
  KEYS,
  type NewJob,
  type Queue,
  type WorkOptions,
} from './queue.ts'

interface Waiting {
  readonly key: string
  readonly run: () => Promise<void>
}

/**
 * Opens the queue.
 * @param onFailure called with the error that a job threw
 */
export function openInProcessQueue(onFailure: (thrown: unknown, kind: JobKind) => void): Queue {
  /**
   * The functions that add a job for the worker of each kind. A job of a kind without a worker is dropped.
   */
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
        const isThere = waiting.some((job) => job.key === key) || (KEYS[kind] === 'once' && running.has(key))
        if (isThere) return
        const run = async (): Promise<void> =>
          doJob({ id: randomUUID(), data: data as JobData[K], attempt: 1, signal })
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
