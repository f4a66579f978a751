/** What a list leaves out, said where it is cut. */
import type { ListName, ReportContext } from '../context.ts'
import type { Voice } from '../voice.ts'

/** The first `most` rows; one more takes no more room than to say that there is one. */
export function shownOf<T>(rows: readonly T[], total: number, most: number): readonly T[] {
  return rows.slice(0, total === most + 1 ? most + 1 : most)
}

export interface Listed {
  /** How many there are, and how many of them are shown. */
  readonly total: number
  readonly shown: number
  /** How many the figures hold, and so a file of the list. */
  readonly held: number
}

/** `and 9 more in the attached daily-stalled.xlsx`; empty when nothing is left out. */
export function moreOf(
  list: ListName,
  { total, shown, held }: Listed,
  { words: { more } }: Voice,
  { attached }: ReportContext,
): string {
  if (total <= shown) return ''
  const file = attached.get(list)
  if (file === undefined || held <= shown) return more.some(total - shown)
  return held < total ? more.partInFile(total - shown, held - shown, file) : more.inFile(total - shown, file)
}
