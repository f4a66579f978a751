/** Counts the leads of each day at once. Gives the same numbers as the figures of each day. */
import type { TrendDay } from '../../domain/figures.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { localDate } from '../../domain/period.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type QueryValues, readRows } from './query.ts'

/** The new leads of each day. */
export const TREND = {
  reads: ['span', 'arrival', 'arrival_gone'],
  sql: `SELECT (SELECT count(*) FROM arrival AS each WHERE each.place = span.place)
      - (SELECT count(*) FROM arrival_gone AS each WHERE each.place = span.place) AS "newLeads"
  FROM span ORDER BY place`,
} as const

/**
 * Reads the trend: the new leads of each day.
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
  const rows = await readRows<{ readonly newLeads: number }>(trx, TREND, scope, spansOf(days))
  return days.map((day, index): TrendDay => {
    const row = isKnown(day, known) ? rows[index] : undefined
    return { day: localDate(day.from, day.timeZone), newLeads: row?.newLeads ?? null }
  })
}

export function spansOf(days: readonly Period[]): QueryValues {
  return { spans: JSON.stringify(days.map(({ from, to }) => [from, to])) }
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
  period: Period,
  known: { readonly from: Instant | null; readonly to: Instant | null },
): boolean {
  if (known.from === null || known.from >= period.to) return false
  return known.to === null || period.to <= known.to
}
