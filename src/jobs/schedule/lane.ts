/** A lane of the daemon: its work is done one at a time, and what one lane waits for holds up no other. */
import type { Log } from '../../log.ts'
import { logFailure } from './job-failure.ts'

export interface Lane {
  /** Has the work done now, or once more when that in hand is over; nothing before it is opened, or after its end. */
  poke(): void
  /** @param signal ends it */
  open(signal: AbortSignal): void
  isBusy(): boolean
  /** Resolves when nothing is in hand. */
  idle(): Promise<void>
}

/**
 * Lanes that one clock winds.
 * @param lanes one that pokes others stands before them
 */
export function joinLanes(lanes: readonly Lane[]): Lane {
  return {
    poke: () => {
      for (const lane of lanes) lane.poke()
    },
    open: (signal) => {
      for (const lane of lanes) lane.open(signal)
    },
    isBusy: () => lanes.some((lane) => lane.isBusy()),
    async idle() {
      for (const lane of lanes) await lane.idle()
    },
  }
}

export function createLane(log: Log, work: (signal: AbortSignal) => Promise<void>): Lane {
  let signal: AbortSignal | null = null
  let inHand: Promise<void> | null = null
  let isAskedAgain = false
  const poke = (): void => {
    if (signal === null || signal.aborted) return
    isAskedAgain = inHand !== null
    if (isAskedAgain) return
    inHand = work(signal)
      .catch((thrown: unknown) => logFailure(log, thrown))
      .finally(() => {
        inHand = null
        if (isAskedAgain) poke()
      })
  }
  return {
    poke,
    open: (until) => {
      signal = until
    },
    isBusy: () => inHand !== null,
    async idle() {
      while (inHand !== null) await inHand
    },
  }
}
