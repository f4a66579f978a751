/** The record block says in one line how often the ranges that reports printed were right. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { RangeRecord } from '../../../domain/insight.ts'
import type { LocaleContext } from '../../words/locale-context.ts'

/** With fewer published ranges than this, the ranges that were computed for past periods are counted too. */
const PUBLISHED_MIN = 60

/** Returns no view if no range has been tested yet. */
export function composeRecord({ insight }: ReportFigures, { words }: LocaleContext) {
  const { expectations = [], winRates = [], pace = [], publishedRecord } = insight ?? {}
  const judged = [...expectations, ...winRates].filter(
    ({ pipeline, range }) => pipeline === null && range !== null,
  )
  const isPublished = publishedRecord !== undefined && publishedRecord.of >= PUBLISHED_MIN
  const normal = isPublished ? publishedRecord : sumOf(judged.flatMap(({ record }) => record ?? []))
  const ends = sumOf(pace.flatMap(({ end }) => end?.record ?? []))
  const sentences = [
    normal.of > 0 && words('record.normal', { ...normal }),
    ends.of > 0 && words('record.ends', { ...ends }),
  ].filter(Boolean)
  return sentences.length === 0 ? [] : [{ kind: 'record' as const, text: sentences.join(' ') }]
}

function sumOf(records: readonly RangeRecord[]): RangeRecord {
  const sum = (count: (each: RangeRecord) => number) => records.reduce((all, each) => all + count(each), 0)
  return { hits: sum(({ hits }) => hits), of: sum(({ of }) => of) }
}
