/** What a list leaves out, said where it is cut. */
import type { ListName, ReportContext } from '../context.ts'
import type { Voice } from '../voice.ts'

/** `and 9 more in the attached daily-stalled.xlsx`; empty when nothing is left out. */
export function moreOf(list: ListName, count: number, { words }: Voice, { attached }: ReportContext): string {
  if (count <= 0) return ''
  const file = attached.get(list)
  return file === undefined ? words.more.inDatabase(count) : words.more.inFile(count, file)
}
