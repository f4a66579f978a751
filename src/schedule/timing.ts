/** The timing of a schedule, and the policy for scheduled runs that were missed. */

import { createHash } from 'node:crypto'
import type { Fault, Pattern } from './cron.ts'
import { parseCron } from './cron.ts'
import { parseWords } from './words.ts'

export interface Timing {
  /** A cron expression of five fields, or words such as `every weekday at 07:00`. */
  readonly expression: string
  readonly timeZone: string
  /** Local dates that are not working days, such as `2026-12-25`. */
  readonly holidays: readonly string[]
}

export const CATCH_UP_POLICIES = ['latest', 'all', 'none'] as const

export interface CatchUp {
  /** The missed scheduled runs that are caught up on: the latest, all of them (oldest first), or none. */
  readonly policy: (typeof CATCH_UP_POLICIES)[number]
  /** The number of hours after which a missed scheduled run is skipped. */
  readonly windowHours: number
}

/** The delay in milliseconds after which a scheduled run counts as late. */
export const LATE_MS = 5 * 60_000

/**
 * Parses an expression, which is cron of five fields or words.
 * @param holidays dates that are not working days, besides Saturdays and Sundays
 */
export function parseExpression(text: string, holidays: readonly string[]): Pattern | Fault {
  return isCron(text) ? parseCron(text) : parseWords(text, holidays)
}

/**
 * Returns whether an expression is cron. Cron begins with digits or signs; an expression in words begins with
 * a word, or with a number and letters.
 */
export function isCron(text: string): boolean {
  return /^[\d*?][\d*?,/-]*(\s|$)/.test(text.trim())
}

/**
 * Returns the delay of a scheduled run: from 0 up to `seconds`, in milliseconds, spread evenly over all
 * seeds. The same run always gets the same delay, so that a restart changes nothing.
 * @param seed the installation, the schedule and the instant of the run
 */
export function jitterMs(seed: string, seconds: number): number {
  const hash = createHash('sha256').update(seed).digest().readUInt32BE(0)
  return Math.floor((hash / 2 ** 32) * seconds * 1000)
}
