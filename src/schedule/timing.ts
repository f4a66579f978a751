/** When a schedule is due, and what becomes of the due times that were missed. */

import { createHash } from 'node:crypto'
import { parseCron } from './cron.ts'
import type { Fault, Pattern } from './pattern.ts'
import { parseWords } from './words.ts'

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

/** From then on a scheduled run counts as late. */
export const LATE_MS = 5 * 60_000

/* An expression of the settings: cron of five fields, or words. */

/** @param holidays dates that are no working days, besides Saturdays and Sundays */
export function parseExpression(text: string, holidays: readonly string[]): Pattern | Fault {
  return isCron(text) ? parseCron(text) : parseWords(text, holidays)
}

/** Minute and hour are never named, whereas words begin with one, or with a number that has messages to it. */
export function isCron(text: string): boolean {
  return /^[\d*?][\d*?,/-]*(\s|$)/.test(text.trim())
}

/* By how much later a due time begins: always the same for the same one, so that a restart changes nothing. */

/**
 * From 0 up to so many seconds, spread evenly over all seeds.
 * @param seed what tells the due time from all others: installation, schedule, instant
 */
export function jitterMs(seed: string, seconds: number): number {
  const hash = createHash('sha256').update(seed).digest().readUInt32BE(0)
  return Math.floor((hash / 2 ** 32) * seconds * 1000)
}
