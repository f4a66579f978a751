/** A lane that all workers share: its work is done by one of them at a time, whoever of them was poked. */
import { LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Queue } from '../../queue/queue.ts'
import { logFailure } from './job-failure.ts'
import type { Lane } from './lane.ts'

export type SharedLaneName = 'messages' | 'notices' | 'events'

export function createSharedLane(
  queue: Queue,
  name: SharedLaneName,
  log: Log,
  work: (signal: AbortSignal) => Promise<void>,
): Lane {
  let opened: AbortSignal | null = null
  let ended: Promise<void> | null = null
  let inHand: Promise<void> | null = null
  let sending: Promise<unknown> | null = null
  let isAskedAgain = false
  const fail = (thrown: unknown): void => {
    // That is told by the queue, once.
    if (thrown instanceof LeadsheetError && thrown.code === 'store_unreachable') return
    logFailure(log, thrown, { queue: name })
  }
  const poke = (): void => {
    if (opened === null || opened.aborted) return
    isAskedAgain = sending !== null
    if (isAskedAgain) return
    sending = queue
      .send(name, {}, { key: name })
      // The next minute pokes again.
      .catch(fail)
      .finally(() => {
        sending = null
        if (isAskedAgain) poke()
      })
  }
  const takeUntil = async (signal: AbortSignal): Promise<void> => {
    const taking = await queue.work(name, { concurrency: 1 }, async (job) => {
      inHand = work(job.signal)
      await inHand.finally(() => {
        inHand = null
      })
    })
    await aborted(signal)
    await taking.stop()
    await sending
  }
  return {
    poke,
    open: (signal) => {
      opened = signal
      ended = takeUntil(signal).catch(fail)
    },
    isBusy: () => inHand !== null,
    async idle() {
      if (opened?.aborted) await ended
      // What it throws is the job's.
      while (inHand !== null) await Promise.allSettled([inHand])
    },
  }
}

/** Resolves when it is. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
