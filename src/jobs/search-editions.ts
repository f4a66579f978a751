/**
 * What somebody types to find editions: words, addresses, numbers as they were written, and dates. A date is looked for
 * in the periods, on the clock of each report.
 */
import { periodBetween } from '../report/period.ts'
import { oneLine } from '../report/text.ts'
import { DAY_MS, dateOf, firstOfMonth } from '../schedule/calendar.ts'
import { type ListedEdition, listEditionsOf } from '../store/edition-list.ts'
import {
  type EditionQuestion,
  type EditionTerm,
  findEditions,
  listEditionZones,
} from '../store/edition-search.ts'
import type { Db } from '../store/open.ts'

export interface EditionWish extends Omit<EditionQuestion, 'terms'> {
  /** As typed; nothing for all. */
  readonly text: string
}

const TEXT_MAX = 200
const TERMS_MAX = 8
/** `2026-11-20`, `2026-11` or `2026`. */
const DATE = /^(20\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?$/

/** The newest first. */
export async function searchEditions(
  db: Db,
  { text, ...wish }: EditionWish,
  limit: number,
): Promise<ListedEdition[]> {
  const words = wordsIn(text)
  const zones = words.some((each) => DATE.test(each)) ? await listEditionZones(db) : []
  const terms = words.map((each): EditionTerm => {
    const days = datesIn(each)
    return days === null ? { words: each } : { days: zones.map((zone) => periodBetween(...days, zone)) }
  })
  return listEditionsOf(db, await findEditions(db, { ...wish, terms }, limit))
}

/** What stands between spaces, or between quotation marks; without what has neither letter nor digit. */
export function wordsIn(text: string): string[] {
  const found = oneLine(text.slice(0, TEXT_MAX), TEXT_MAX).matchAll(/"([^"]*)"?|[^\s"]+/g)
  return [...found]
    .map(([whole, quoted]) => (quoted ?? whole).trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, TERMS_MAX)
}

type Dates = readonly [first: string, after: string]

/** Null of what is no date. */
function datesIn(word: string): Dates | null {
  const [, year, month, day] = DATE.exec(word) ?? []
  if (year === undefined) return null
  const first = Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1)) / DAY_MS
  const after = day !== undefined ? first + 1 : firstOfMonth(first, month !== undefined ? 1 : 12)
  return [dateOf(first), dateOf(after)]
}
