/** Counts figures for many spans at once. Gives the same numbers as the figures of each span. */
import type { Sparklines, TrendDay } from '../../domain/figures.ts'
import type { Instant, Period } from '../../domain/model.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type QueryValues, readRows, recentFrom } from './query.ts'

/** A value with a larger unknown share is left out, as a sparkline cannot show its coverage. */
const UNSURE_MAX = 0.01

const DATE_LENGTH = '2026-11-20'.length
const HALF_DAY_MS = 12 * 3_600_000

/** The SQL condition that a lead was deleted at the end of a span. */
const WAS_GONE = `EXISTS (SELECT 1 FROM lead_deletion AS gone WHERE gone.lead_id = each.lead_id
      AND deleted_since < span_to AND (returned_at IS NULL OR returned_at >= span_to))`

/** Counts only leads that were still closed with the outcome at the end of the span. */
const closedSince = (since: string, outcome: string): string => `(SELECT count(*) FROM closed_now AS each
      WHERE outcome = '${outcome}' AND closed_at >= ${since} AND closed_at < span_to AND NOT ${WAS_GONE})
    + (SELECT count(*) FROM closed_once AS each WHERE outcome = '${outcome}' AND closed_at >= ${since}
      AND closed_at < span_to AND reopened_at >= span_to AND NOT ${WAS_GONE})`

const COUNTS = `(SELECT count(*) FROM arrival AS each WHERE each.place = span.place)
      - (SELECT count(*) FROM arrival_gone AS each WHERE each.place = span.place) AS "newLeads",
    ${closedSince('span_from', 'won')} AS won`

/** The new and won leads of each day. */
export const TREND = {
  reads: ['span', 'arrival', 'arrival_gone', 'closed_now', 'closed_once'],
  sql: `SELECT ${COUNTS} FROM span ORDER BY place`,
} as const

/** The figures new_leads, won and win_rate of each period; the win rate as won and lost leads. */
export const SPARKLINES = {
  reads: ['span', 'arrival', 'arrival_gone', 'closed_now', 'closed_once'],
  sql: `SELECT ${COUNTS},
    ${closedSince('span_recent', 'won')} AS part,
    ${closedSince('span_recent', 'lost')} AS lost
  FROM span ORDER BY place`,
} as const

const OPEN_DAYS = { reads: ['open_day'], sql: 'SELECT day, value, unsure FROM open_day' } as const
const OPEN_PART = { reads: ['open_part'], sql: 'SELECT value, unsure FROM open_part' } as const

export async function readSparklines(
  trx: ReadTrx,
  scope: FigureScope,
  periods: readonly Period[],
  currency: string | null,
  dataAsOf: Instant | null,
): Promise<Sparklines> {
  const known = { from: await findFirstLead(trx), to: dataAsOf }
  const rows = await readRows<Counts & { part: number; lost: number }>(
    trx,
    SPARKLINES,
    scope,
    spansOf(periods),
  )
  const values = await readOpenValues(trx, scope, periods, currency)
  const knownOf = <T>(values: readonly T[]): (T | null)[] =>
    values.map((value, index) => (isKnown(periods[index], known) ? value : null))
  return {
    newLeads: knownOf(rows.map((row) => row.newLeads)),
    won: knownOf(rows.map((row) => row.won)),
    winRate: knownOf(rows.map(({ part, lost }) => (part + lost > 0 ? part / (part + lost) : null))),
    openValue: knownOf(values),
  }
}

/**
 * Reads the trend: the new leads and won leads of each day.
 * @param days whole local days, in order
 * @param dataAsOf the time up to which everything has been read. The counts of days that end later are null.
 * If `dataAsOf` is null, there is no such limit
 */
export async function readTrend(
  trx: ReadTrx,
  scope: FigureScope,
  days: readonly Period[],
  dataAsOf: Instant | null,
): Promise<TrendDay[]> {
  const known = { from: await findFirstLead(trx), to: dataAsOf }
  const rows = await readRows<Counts>(trx, TREND, scope, spansOf(days))
  return days.map((day, index): TrendDay => {
    const row = isKnown(day, known) ? rows[index] : undefined
    return { day: dateOf(day), newLeads: row?.newLeads ?? null, won: row?.won ?? null }
  })
}

interface Counts {
  readonly newLeads: number
  readonly won: number
}

interface OpenValue {
  readonly value: number
  readonly unsure: number
}

/** Null where more than one percent comes from leads whose value then is not known. */
async function readOpenValues(
  trx: ReadTrx,
  scope: FigureScope,
  periods: readonly Period[],
  currency: string | null,
): Promise<(number | null)[]> {
  if (currency === null) return periods.map(() => null)
  const days = await readRows<OpenValue & { day: string }>(trx, OPEN_DAYS, scope, { currency })
  const values: (number | null)[] = []
  for (const { to } of periods) {
    const parts = await readRows<OpenValue>(trx, OPEN_PART, { ...scope, to }, { currency })
    const next = new Date(Date.parse(to) + HALF_DAY_MS).toISOString().slice(0, DATE_LENGTH)
    const changes = [...days.filter(({ day }) => day < next), ...parts]
    const value = changes.reduce((sum, change) => sum + change.value, 0)
    const unsure = changes.reduce((sum, change) => sum + change.unsure, 0)
    values.push(unsure > value * UNSURE_MAX ? null : Math.round(Math.round(value * 1e4) / 100) / 100)
  }
  return values
}

export function spansOf(periods: readonly Period[]): QueryValues {
  return { spans: JSON.stringify(periods.map((period) => [period.from, period.to, recentFrom(period)])) }
}

/** Finds the first of all leads, whatever the filter. Before this time a count of zero means nothing. */
async function findFirstLead({ db }: ReadTrx): Promise<Instant | null> {
  const row = await db
    .selectFrom('lead')
    .select((eb) => eb.fn.min('created_at').as('at'))
    .executeTakeFirst()
  return row?.at ?? null
}

function isKnown(
  period: Period | undefined,
  known: { readonly from: Instant | null; readonly to: Instant | null },
): boolean {
  if (period === undefined || known.from === null || known.from >= period.to) return false
  return known.to === null || period.to <= known.to
}

function dateOf({ from, timeZone }: Period): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(Date.parse(from))
}
