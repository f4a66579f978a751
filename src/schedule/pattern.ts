/** What an expression says, before it meets a time zone. */

/** Times on a clock that is never changed: in ms, as if it were UTC. */
export interface Pattern {
  /** Whether it goes by what the clock shows, all through the day; else it has its times of the day, each once. */
  readonly isContinuous: boolean
  /** The first time after one; null when there is none. */
  readonly next: (afterMs: number) => number | null
}

/** Why a text says nothing, worded to follow "expected …;". */
export interface Fault {
  readonly fault: string
  /** A word that is not known, if that is why. */
  readonly unknown?: string
}
