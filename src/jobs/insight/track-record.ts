/** Withholds statements whose published ranges contained the real number too rarely. */
import type { PeriodKind } from '../../domain/figures.ts'
import type { PublishedRange, PublishedRecord, RangeKind, RangeRecord } from '../../domain/insight.ts'
import type { Instant } from '../../domain/model.ts'
import { dayBefore } from '../../domain/period.ts'
import { isTrusted, MEANT } from '../../insight/record.ts'
import type { Db } from '../../store/db/store.ts'
import { findLastCountedDay, listCountedDays } from '../../store/insight/daily-count.ts'
import { readPublishedRecords } from '../../store/insight/published-range.ts'

type Figure = PublishedRange['figure']
type PipelineIds = readonly string[] | null

/** A number that a report judged. Only a win rate has no `figure`. */
interface Shown {
  readonly figure?: Figure
  readonly pipeline: object | null
  readonly range: object | null
}

export interface TrackRecord {
  readonly records: readonly PublishedRecord[]
  /** Lists the kinds of ranges of a figure that contained the real number too rarely. */
  distrusted(figure: Figure, pipelineIds: PipelineIds): RangeKind[]
  /** Numbers of single pipelines and numbers without a range are left out. */
  sumOf(kind: PeriodKind, pipelineIds: PipelineIds, shown: readonly Shown[]): RangeRecord
}

/**
 * Reads how often the ranges that earlier reports published contained the real number.
 * @param dates the local dates for which the numbers of leads are stored, in order
 */
export async function readTrackRecord(
  db: Db,
  timeZone: string,
  dates: readonly string[],
): Promise<TrackRecord> {
  const last = dates.at(-1)
  return trackRecordOf(last === undefined ? [] : await readPublishedRecords(db, timeZone, last))
}

/** Lists the local dates up to `asOf` for which counts by day are stored. */
export async function listCountedDates(db: Db, asOf: Instant, timeZone: string): Promise<string[]> {
  const last = await findLastCountedDay(db, timeZone)
  if (last === null) return []
  const days = await listCountedDays(db, dayBefore(new Date(asOf), timeZone).to, timeZone)
  return days.map(({ date }) => date).filter((date) => date <= last)
}

function trackRecordOf(records: readonly PublishedRecord[]): TrackRecord {
  const find = (figure: Figure, pipelineIds: PipelineIds) =>
    records.filter((each) => each.figure === figure && keyOf(each.pipelineIds) === keyOf(pipelineIds))
  return {
    records,
    distrusted: (figure, pipelineIds) =>
      find(figure, pipelineIds).flatMap((each) => (isRecordTrusted(each) ? [] : [each.kind])),
    sumOf(kind, pipelineIds, shown) {
      const counted = shown
        .filter(({ pipeline, range }) => pipeline === null && range !== null)
        .flatMap(({ figure = 'win_rate' }) =>
          find(figure, pipelineIds).filter(
            (each) => each.kind === (figure === 'win_rate' ? '30_days' : scaleOf(kind)),
          ),
        )
      const sum = (of: 'hits' | 'of') => counted.reduce((all, each) => all + each[of], 0)
      return { hits: sum('hits'), of: sum('of') }
    },
  }
}

/** Returns false if the published ranges contained the real number clearly too rarely. */
export function isRecordTrusted({ kind, windows }: PublishedRecord): boolean {
  return isTrusted(windows, meantOf(kind))
}

export function meantOf(kind: RangeKind): number {
  return kind.endsWith('_end') ? 0.8 : MEANT
}

export function scaleOf(kind: PeriodKind): 'day' | 'week' | 'month' {
  return kind === 'week' || kind === 'month' ? kind : 'day'
}

function keyOf(pipelineIds: PipelineIds): string {
  return JSON.stringify(pipelineIds?.toSorted() ?? null)
}
