/** An expression of the settings: cron of five fields, or words. */
import { parseCron } from './cron.ts'
import type { Fault, Pattern } from './pattern.ts'
import { parseWords } from './words.ts'

/** @param holidays dates that are no working days, besides Saturdays and Sundays */
export function parseExpression(text: string, holidays: readonly string[]): Pattern | Fault {
  return isCron(text) ? parseCron(text) : parseWords(text, holidays)
}

/** Minute and hour are never named, whereas words begin with one, or with a number that has messages to it. */
export function isCron(text: string): boolean {
  return /^[\d*?][\d*?,/-]*(\s|$)/.test(text.trim())
}
