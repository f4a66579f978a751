/** Workers that read parts of a sync, each with a store of its own on one database; one may be killed and its work given to another. */
import { setTimeout as delay } from 'node:timers/promises'
import { LeadsheetError } from '../../src/errors.ts'
import { createPartReader } from '../../src/jobs/sync-part.ts'
import type { PartHelpers } from '../../src/jobs/sync-run.ts'
import type { Source } from '../../src/source/open.ts'
import { openStore } from '../../src/store/open.ts'

export interface PartWorkers extends AsyncDisposable {
  readonly helpers: PartHelpers
  /** Those that were offered in all. */
  readonly offered: ReadonlySet<number>
  /** So many parts were read, or begun, by workers. */
  readonly taken: () => number
  /** Puts down what each is doing; the parts go to whoever is next. */
  kill(): void
}

export interface WorkersOptions {
  /** The address of the store. */
  readonly url: string
  readonly source: () => Source
  readonly count: number
  readonly pageSize: number
  readonly now: () => Date
}

export async function openPartWorkers(options: WorkersOptions): Promise<PartWorkers> {
  const { url, source, count, pageSize, now } = options
  const waiting: number[] = []
  const inHand = new Set<number>()
  const offered = new Set<number>()
  const stop = new AbortController()
  let alive = new AbortController()
  let taken = 0
  const stores = await Promise.all(Array.from({ length: count }, () => openStore(url, now())))
  const workers = stores.map((store) =>
    work(createPartReader({ source: source(), store, now, pageSize }, () => false)),
  )

  async function work(read: ReturnType<typeof createPartReader>): Promise<void> {
    while (!stop.signal.aborted) {
      const part = waiting.shift()
      if (part === undefined) {
        await delay(5)
        continue
      }
      taken++
      await doing(part, (signal) => read(part, signal))
    }
  }

  async function doing(part: number, read: (signal: AbortSignal) => Promise<void>): Promise<void> {
    inHand.add(part)
    const { signal } = alive
    try {
      await read(signal)
    } catch (thrown) {
      // As the queue does with a job that has failed.
      const isAway = thrown instanceof LeadsheetError && thrown.code === 'store_unreachable'
      if (!signal.aborted && !isAway) throw thrown
      waiting.push(part)
    } finally {
      inHand.delete(part)
    }
  }

  return {
    offered,
    taken: () => taken,
    helpers: {
      async offer(_, parts) {
        for (const part of parts) {
          offered.add(part)
          if (!waiting.includes(part) && !inHand.has(part)) waiting.push(part)
        }
      },
      async takeOne(_, read) {
        const part = waiting.shift()
        if (part === undefined) return false
        await doing(part, () => read(part))
        return true
      },
    },
    kill() {
      alive.abort()
      alive = new AbortController()
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(workers)
      await Promise.all(stores.map((store) => store.close()))
    },
  }
}
