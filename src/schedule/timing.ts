/** When a schedule is due, and what becomes of the due times that were missed. */

export interface Timing {
  /** Cron of five fields, or words: `every weekday at 07:00`. */
  readonly expression: string
  readonly timeZone: string
  /** Local dates that are no working days: `2026-12-25`. */
  readonly holidays: readonly string[]
}

export const CATCH_UP_POLICIES = ['latest', 'all', 'none'] as const

export interface CatchUp {
  /** Of the due times that were missed: the latest one, all of them, oldest first, or none. */
  readonly policy: (typeof CATCH_UP_POLICIES)[number]
  /** After so many hours a due time is let go. */
  readonly windowHours: number
}
