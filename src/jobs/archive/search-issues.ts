/**
 * Searches issues (reports of past periods) for what a person types: words, addresses, dates, and numbers as
 * they are written in the issues. A date finds the issues whose period contains the date, in the time zone of
 * the report.
 */
import { periodBetween } from '../../domain/period.ts'
import { cleanLine } from '../../report/words/clean-text.ts'
import { DAY_MS, dateOf, firstOfMonth } from '../../schedule/zone.ts'
import type { Db } from '../../store/db/store.ts'
import { type ListedIssue, listIssuesOf } from '../../store/reports/issue-list.ts'
import {
  findIssues,
  type IssueQuestion,
  type IssueTerm,
  listIssueZones,
} from '../../store/reports/issue-search.ts'

export interface IssueChoice extends Omit<IssueQuestion, 'terms'> {
  readonly text: string
}

const TEXT_MAX = 200
const TERMS_MAX = 8
const DATE = /^(20\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?$/

export async function searchIssues(
  db: Db,
  { text, ...choice }: IssueChoice,
  limit: number,
): Promise<ListedIssue[]> {
  const words = wordsIn(text)
  const zones = words.some((each) => DATE.test(each)) ? await listIssueZones(db) : []
  const terms = words.map((each): IssueTerm => {
    const days = datesIn(each)
    return days === null ? { word: each } : { days: zones.map((zone) => periodBetween(...days, zone)) }
  })
  return listIssuesOf(db, await findIssues(db, { ...choice, terms }, limit))
}

export function wordsIn(text: string): string[] {
  const found = cleanLine(text.slice(0, TEXT_MAX), TEXT_MAX).matchAll(/"([^"]*)"?|[^\s"]+/g)
  return [...found]
    .map(([whole, quoted]) => (quoted ?? whole).trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, TERMS_MAX)
}

type Dates = readonly [first: string, after: string]

/** Returns the first day that `2026-11` covers and the day after the last; null if it is no date. */
function datesIn(word: string): Dates | null {
  const [, year, month, day] = DATE.exec(word) ?? []
  if (year === undefined) return null
  const first = Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1)) / DAY_MS
  const after = day !== undefined ? first + 1 : firstOfMonth(first, month !== undefined ? 1 : 12)
  return [dateOf(first), dateOf(after)]
}
