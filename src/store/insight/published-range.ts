/**
 * Stores the ranges that reports published. A range has the lowest and the highest number that were expected
 * for a figure. Also counts how many ranges contained the real number. A stored range and its stored real
 * number are never changed.
 */
import { sql } from 'kysely'
import type { PublishedRange, PublishedRecord } from '../../domain/insight.ts'
import { DAY_MS, dateBefore } from '../../time.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { publishedRecords } from '../schema/views.ts'

/** The length of a window in days. Ranges of win rates are grouped by the window in which they end. */
const RATE_DAYS = 30
/**
 * The number of days for which a range counts after its end. `day` is for ranges of one day, `other` for all
 * other ranges. Because older ranges do not count, a kind of range that was often wrong can be published
 * again later.
 */
const LAST_DAYS = { day: 365, other: 1096 } as const
/** The real number is recorded this many days after the last day, because leads may be read late. */
const SETTLED_AFTER_DAYS = 3

/** Stores the ranges that an issue published. A range that an earlier issue published is not stored again. */
export async function savePublishedRanges(
  trx: Trx,
  issueId: string,
  timeZone: string,
  ranges: readonly PublishedRange[],
): Promise<void> {
  if (ranges.length === 0) return
  const rows = ranges.map(({ kind, pipelineIds, asOfDay, firstDay, lastDay, range, ...given }) => ({
    time_zone: timeZone,
    kind,
    pipelines: textOf(pipelineIds),
    ...given,
    time_window: kind === '30_days' ? windowOf(lastDay) : lastDay,
    as_of_day: asOfDay,
    first_day: firstDay,
    last_day: lastDay,
    low: range.low,
    high: range.high,
    issue_id: issueId,
  }))
  await trx
    .insertInto('published_range')
    .values(rows)
    .onConflict((at) =>
      at
        .columns([
          'time_zone',
          'kind',
          'figure',
          'pipelines',
          'time_window',
          'as_of_day',
          'last_day',
          'first_day',
        ])
        .doNothing(),
    )
    .execute()
}

/** Records real numbers from the daily counts of `dates`, which are in order, when ranges are over. */
export async function recordOutcomes(
  store: Pick<Store, 'db' | 'write'>,
  timeZone: string,
  dates: readonly string[],
): Promise<void> {
  const by = dates.at(-1 - SETTLED_AFTER_DAYS)
  if (by === undefined) return
  const open = await store.db
    .selectFrom('published_range')
    .where('actual', 'is', null)
    .where('time_zone', '=', timeZone)
    .where('last_day', '<=', by)
    .select('kind')
    .executeTakeFirst()
  if (open === undefined) return
  await store.write(async (trx) => {
    await sql`UPDATE published_range SET actual = (
        SELECT coalesce(sum(value), 0) FROM daily_count
        WHERE daily_count.time_zone = published_range.time_zone AND daily_count.figure = published_range.figure
          AND dimension = 'pipeline_id' AND day BETWEEN first_day AND last_day AND (pipelines = ''
            OR member IN (SELECT value FROM json_each(iif(pipelines = '', '[]', pipelines)))))
      WHERE actual IS NULL AND time_zone = ${timeZone} AND last_day <= ${by}`.execute(trx)
  })
}

/** Ranges of one day count for a year before `lastDay`, other ranges for three years. */
export async function readPublishedRecords(
  db: Db,
  timeZone: string,
  lastDay: string,
): Promise<PublishedRecord[]> {
  const isLast = sql`time_zone = ${timeZone} AND last_day <= ${lastDay}
    AND last_day > iif(kind = 'day', ${dateBefore(lastDay, LAST_DAYS.day)}, ${dateBefore(lastDay, LAST_DAYS.other)})`
  const { rows } = await sql<RecordRow>`${publishedRecords(isLast)} ORDER BY kind, figure, pipelines`.execute(
    db,
  )
  return rows.map(({ kind, figure, pipelines, ranges, hits, windows, windows_hit }) => ({
    kind,
    figure,
    pipelineIds: pipelines === '' ? null : JSON.parse(pipelines),
    hits,
    of: ranges,
    windows: { hits: windows_hit, of: windows },
  }))
}

interface RecordRow
  extends Pick<PublishedRange, 'kind' | 'figure'>,
    Readonly<Record<'ranges' | 'hits' | 'windows' | 'windows_hit', number>> {
  readonly pipelines: string
}

function textOf(pipelineIds: readonly string[] | null): string {
  return pipelineIds === null ? '' : JSON.stringify([...new Set(pipelineIds)].sort())
}

/** Returns the first day of the window that contains a date. From 1970 on, every 30 days are a window. */
function windowOf(date: string): string {
  return dateBefore(date, Math.floor(Date.parse(date) / DAY_MS) % RATE_DAYS)
}
