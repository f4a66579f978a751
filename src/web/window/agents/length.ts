/** How long something took, as exact as readings can tell. */
import { numbersOf } from '../../../report/numbers.ts'
import { LOCALE } from '../pipelines/words.ts'

const MINUTE_MS = 60_000
const numbers = numbersOf(LOCALE)

/** `15 min`, from two hours on `15.3 h`, from two days on `29 days` */
export function lengthOf(ms: number): string {
  const minutes = ms / MINUTE_MS
  if (minutes < 120) return `${numbers.count(minutes)} min`
  if (minutes < 48 * 60) return `${numbers.decimal(minutes / 60, 1)} h`
  return `${numbers.count(minutes / 60 / 24)} days`
}
