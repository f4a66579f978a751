/** What a list leaves out, said where it is cut. */
import type { ListName, ReportContext } from '../context.ts'
import type { Voice } from '../voice.ts'

/** The first `most` rows; one more takes no more room than to say that there is one. */
export function shownOf<T>(rows: readonly T[], total: number, most: number): readonly T[] {
  return rows.slice(0, total === most + 1 ? most + 1 : most)
}

/** `and 9 more in the attached daily-stalled.xlsx`; empty when nothing is left out. */
export function moreOf(list: ListName, count: number, { words }: Voice, { attached }: ReportContext): string {
  if (count <= 0) return ''
  const file = attached.get(list)
  return file === undefined ? words.more.inDatabase(count) : words.more.inFile(count, file)
}
