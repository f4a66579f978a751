/** A parsed schedule expression, before a time zone is applied. */

/** The times of a schedule on a clock that never changes, in ms as if it were UTC. */
export interface Pattern {
  /**
   * Whether the schedule repeats all day by what the clock shows. Otherwise it has times of day, each once a
   * date.
   */
  readonly isContinuous: boolean
  /** The first time after a time; null when there is none. */
  readonly next: (afterMs: number) => number | null
}

/** The reason why an expression cannot be read, worded to follow "expected …;". */
export interface Fault {
  readonly fault: string
  /** The unknown word, if that is the reason. */
  readonly unknown?: string
}
