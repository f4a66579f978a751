/**
 * Counts the leads of each local day by group (for example by source) and stores the counts in `daily_count`.
 * Before a report reads the counts, only the days that may have changed since the last count are counted
 * again.
 */
import { sql } from 'kysely'
import { COUNTED_FIGURES, type CountedFigure, type DriverDimension } from '../../domain/insight.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { daysUpTo, localDates } from '../../domain/period.ts'
import { listOf } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { runQuery } from '../figures/query.ts'

/** The columns of `lead` by which the leads are grouped for counting. */
export const DIMENSIONS: readonly DriverDimension[] = ['pipeline_id', 'source', 'company_country', 'agent_id']

/** The number of last days that are always counted again, because their leads often change or come late. */
const DAYS_ANEW = 2
/** The maximum number of days that are counted: three years. */
const DAYS_MAX = 1096
/** The maximum number of days that are counted in one transaction. */
const DAYS_AT_ONCE = 10
/** Leads read within this time before the last count are checked again, as pages are written late. */
const MARGIN_MS = 3_600_000
/** If more leads and moves than this were read since the last count, all days are counted again. */
const ROWS_SINCE_MAX = 20_000

export interface DailyCount {
  /** The local date, such as `2026-11-20`. */
  readonly day: string
  /** The value of the grouping column, for example the id of a pipeline; empty for leads without a value. */
  readonly member: string
  /** The currency if `value` is an amount of money; empty if `value` is a number of leads. */
  readonly currency: string
  readonly value: number
}

/**
 * Lists the local days to count: at most three years before `end`, and only days that begin after the
 * creation of the first lead.
 * @param end the beginning of a local day
 */
export async function listCountedDays(db: Db, end: Instant, timeZone: string): Promise<CountedDay[]> {
  const row = await db
    .selectFrom('lead')
    .select((eb) => eb.fn.min<Instant | null>('created_at').as('at'))
    .executeTakeFirst()
  const first = row?.at ?? null
  if (first === null || first >= end) return []
  return daysBefore(end, timeZone).filter((day) => day.from > first)
}

export interface CountedDay extends Period {
  readonly date: string
}

let lastDays: { readonly key: string; readonly days: readonly CountedDay[] } = { key: '', days: [] }

/** Keeps the last result, because finding the beginnings of so many local days is slow. */
function daysBefore(end: Instant, timeZone: string): readonly CountedDay[] {
  const key = `${end} ${timeZone}`
  if (lastDays.key !== key) {
    const days = daysUpTo(end, DAYS_MAX, timeZone)
    lastDays = { key, days: days.map((day) => ({ ...day, date: localDates(day) })) }
  }
  return lastDays.days
}

/**
 * Updates the stored daily counts. Only days whose counts are missing or may be outdated are counted again. Once a
 * month all days are, because the value, the pipeline or the owner of a lead may have changed long after its day.
 * Each transaction counts only a few days, so that other writers need not wait long.
 * @param days all local days whose counts are needed, in order, without a gap
 */
export async function refreshDailyCounts(
  store: Pick<Store, 'db' | 'write'>,
  days: readonly CountedDay[],
  now: Date,
): Promise<void> {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return
  const { timeZone } = first
  const known = await store.db
    .selectFrom('daily_count_span')
    .where('time_zone', '=', timeZone)
    .selectAll()
    .executeTakeFirst()
  const isOfThisMonth = known?.counted_at.slice(0, 7) === now.toISOString().slice(0, 7)
  const stale = isOfThisMonth && known && (await staleDays(store.db, known.counted_at, days))
  const [firstDay, lastDay] = [first.date, last.date]
  const isAnew = !stale || known === undefined || known.first_day > firstDay || known.last_day < firstDay
  const wanted = isAnew
    ? days
    : days.filter(
        (day, index) => index >= days.length - DAYS_ANEW || stale.has(index) || day.date > known.last_day,
      )
  const span = {
    time_zone: timeZone,
    first_day: isAnew ? firstDay : known.first_day,
    last_day: !isAnew && known.last_day > lastDay ? known.last_day : lastDay,
    counted_at: now.toISOString(),
  }
  // Records the counted days last. If the process is killed before that, the next run counts the same days
  // again.
  for (let from = 0; from < wanted.length; from += DAYS_AT_ONCE) {
    await store.write((trx) => countDays(trx, wanted.slice(from, from + DAYS_AT_ONCE), timeZone))
    await new Promise(setImmediate)
  }
  await store.write((trx) =>
    trx
      .insertInto('daily_count_span')
      .values(span)
      .onConflict((at) => at.column('time_zone').doUpdateSet(span))
      .execute(),
  )
}

/** Finds the last local day that is counted; null if none is. */
export async function findLastCountedDay(db: Db, timeZone: string): Promise<string | null> {
  const row = await db
    .selectFrom('daily_count_span')
    .where('time_zone', '=', timeZone)
    .select('last_day')
    .executeTakeFirst()
  return row?.last_day ?? null
}

/** Reads the counts of a figure, grouped by one dimension, for the local dates from `from` to `to`. */
export async function readDailyCounts(
  db: Db,
  of: { readonly timeZone: string; readonly figure: CountedFigure; readonly dimension: DriverDimension },
  from: string,
  to: string,
): Promise<DailyCount[]> {
  return db
    .selectFrom('daily_count')
    .where('time_zone', '=', of.timeZone)
    .where('figure', '=', of.figure)
    .where('dimension', '=', of.dimension)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .select(['day', 'member', 'currency', 'value'])
    .orderBy('day')
    .execute()
}

export async function listNames(db: Db): Promise<ReadonlyMap<string, string>> {
  const pipelines = await db.selectFrom('pipeline').select(['id', 'name']).execute()
  const agents = await db.selectFrom('agent').select(['id', 'name']).execute()
  return new Map([...agents, ...pipelines].map(({ id, name }) => [id, name]))
}

/** Finds positions in `days` whose leads changed since the last count; null if there are too many changes. */
async function staleDays(db: Db, countedAt: Instant, days: readonly Period[]): Promise<Set<number> | null> {
  const mark = new Date(Date.parse(countedAt) - MARGIN_MS).toISOString()
  const { rows } = await sql<{ at: Instant | null }>`SELECT at FROM (
      SELECT created_at AS at FROM lead WHERE first_seen_at >= ${mark}
      UNION ALL SELECT status_changed_at FROM lead WHERE first_seen_at >= ${mark}
      UNION ALL SELECT moved_at FROM stage_move WHERE observed_at >= ${mark}
      UNION ALL SELECT entered_at FROM stage_move WHERE observed_at >= ${mark}
      UNION ALL SELECT created_at FROM lead
        WHERE id IN (SELECT lead_id FROM lead_deletion WHERE deleted_since >= ${mark})
    ) AS changed LIMIT ${ROWS_SINCE_MAX + 1}`.execute(db)
  if (rows.length > ROWS_SINCE_MAX) return null
  return new Set(rows.map(({ at }) => (at === null ? -1 : placeOf(at, days))))
}

/** Returns the index of the day that contains an instant; -1 for an instant before the first day. */
function placeOf(at: Instant, days: readonly Period[]): number {
  let [low, high] = [0, days.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((days[middle]?.from ?? '') <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

async function countDays(trx: Trx, days: readonly CountedDay[], timeZone: string): Promise<void> {
  if (days.length === 0) return
  const dates = days.map(({ date }) => date)
  await trx
    .deleteFrom('daily_count')
    .where('time_zone', '=', timeZone)
    .where('figure', 'in', COUNTED_FIGURES)
    .where('dimension', 'in', DIMENSIONS)
    .where('day', 'in', listOf(dates))
    .execute()
  const spans = JSON.stringify(days.map(({ from, to }, index) => [dates[index], from, to]))
  for (const source of SOURCES) await runQuery(trx, countSql(source), { spans, time_zone: timeZone })
}

function countSql({ figures, leads }: (typeof SOURCES)[number]): string {
  const counted = figures.map(
    ({
      figure,
      currency,
      value,
    }) => `SELECT '${figure}' AS figure, ${currency} AS currency, ${value} AS value, day,
      ${DIMENSIONS.join(', ')} FROM found`,
  )
  const grouped = DIMENSIONS.map(
    (
      dimension,
    ) => `SELECT :time_zone, figure, '${dimension}', day, coalesce(${dimension}, ''), currency, sum(value)
    FROM counted WHERE value IS NOT NULL GROUP BY figure, day, ${dimension}, currency`,
  )
  return `INSERT INTO daily_count (time_zone, figure, dimension, day, member, currency, value)
    WITH span AS (SELECT value ->> 0 AS day, value ->> 1 AS span_from, value ->> 2 AS span_to FROM json_each(:spans)),
    found AS MATERIALIZED (${leads}),
    counted AS MATERIALIZED (${counted.join(' UNION ALL ')})
    ${grouped.join(' UNION ALL ')}`
}

const GROUPS = DIMENSIONS.map((dimension) => `lead.${dimension}`).join(', ')

/** The SQL condition that a lead was not deleted at the end of the day, as in a report about that day. */
const WAS_THERE = `NOT EXISTS (SELECT 1 FROM lead_deletion AS each WHERE each.lead_id = lead.id
    AND deleted_since < span_to AND (returned_at IS NULL OR returned_at >= span_to))`

const closedOn = (outcome: string): string => `SELECT day, ${GROUPS}, lead.value_currency,
    count(*) AS leads, sum(lead.value_amount) AS amount
  FROM span CROSS JOIN stage CROSS JOIN lead
  WHERE outcome = '${outcome}' AND lead.status = stage.status AND status_changed_at >= span_from
    AND status_changed_at < span_to AND ${WAS_THERE}
  GROUP BY day, ${GROUPS}, lead.value_currency`

const LEADS = { currency: "''", value: 'leads' }

/** Each query counts the leads of each day in groups, and lists the figures that its rows give. */
const SOURCES = [
  {
    leads: `SELECT day, ${GROUPS}, count(*) AS leads FROM span CROSS JOIN lead
      WHERE created_at >= span_from AND created_at < span_to AND ${WAS_THERE} GROUP BY day, ${GROUPS}`,
    figures: [{ figure: 'new_leads', ...LEADS }],
  },
  {
    leads: closedOn('won'),
    figures: [
      { figure: 'won', ...LEADS },
      {
        figure: 'won_value',
        currency: "coalesce(value_currency, '')",
        value: "CASE WHEN value_currency <> '' THEN amount END",
      },
    ],
  },
  { leads: closedOn('lost'), figures: [{ figure: 'lost', ...LEADS }] },
] as const
