/** Finds leads that did not come one by one: many created at one time (an import), and old ones read late. */
import type { Backfill, DriverDimension, ImportedLeads } from '../../domain/insight.ts'
import type { Instant, Period } from '../../domain/model.ts'
import type { Db } from '../db/store.ts'
import { runQuery } from '../figures/query.ts'
import type { CountedDay } from './daily-count.ts'

/** An import takes at most this many hours, and brings at least this share of its day's leads from one source. */
const [HOURS_MAX, SHARE_MIN] = [3, 0.75]
/** An hour belongs to an import if it has this share of the leads of the busiest hour. */
const BUSY = 0.1
/** A backfill has at least this many leads, and this share of the leads that were known before. */
const [BACKFILL_MIN, BACKFILL_SHARE] = [50, 0.02]
/** A lead is old if it was created this long before the leads of a report were read. */
const OLD_MS = 30 * 86_400_000
/** The first load, which brings leads of all ages, takes up to this long. */
const FIRST_LOAD_MS = 86_400_000

/** An import, with the hours (UTC, such as `2026-11-24T10`) in which its leads were created. */
export interface FoundImport extends ImportedLeads {
  readonly within: Pick<Period, 'from' | 'to'>
  readonly hours: readonly string[]
}

/** Returns null unless most leads of a day came from one source at one time. */
export async function findImport(db: Db, { date, from, to }: CountedDay): Promise<FoundImport | null> {
  const rows = await runQuery<{ hour: string; source: string; leads: number }>(
    db,
    `SELECT substr(created_at, 1, 13) AS hour, coalesce(source, '') AS source, count(*) AS leads FROM lead
    WHERE created_at >= :from AND created_at < :to GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
    { from, to },
  )
  const [busiest] = rows
  const imported = rows
    .filter(({ source, leads }) => source === busiest?.source && leads >= BUSY * busiest.leads)
    .slice(0, HOURS_MAX)
  if (sumOf(imported) < SHARE_MIN * sumOf(rows)) return null
  const hours = imported.map(({ hour }) => hour)
  return { day: date, source: busiest?.source || null, leads: sumOf(imported), within: { from, to }, hours }
}

function sumOf(rows: readonly { readonly leads: number }[]): number {
  return rows.reduce((sum, { leads }) => sum + leads, 0)
}

/** Counts the leads of an import by the members of a dimension. */
export async function countImported(
  db: Db,
  { within, hours, source }: FoundImport,
  dimension: DriverDimension,
): Promise<ReadonlyMap<string, number>> {
  const rows = await runQuery<{ member: string; leads: number }>(
    db,
    `SELECT coalesce(${dimension}, '') AS member, count(*) AS leads FROM lead
    WHERE created_at >= :from AND created_at < :to AND coalesce(source, '') = :source
      AND substr(created_at, 1, 13) IN (SELECT value FROM json_each(:hours)) GROUP BY 1`,
    { from: within.from, to: within.to, source: source ?? '', hours: JSON.stringify(hours) },
  )
  return new Map(rows.map(({ member, leads }) => [member, leads]))
}

/**
 * Finds whether many old leads were first read after an instant. Leads of the first load do not count.
 * @param pipelineIds null for all pipelines
 */
export async function findBackfill(
  db: Db,
  after: Instant,
  pipelineIds: readonly string[] | null,
): Promise<Backfill | null> {
  const first = await db
    .selectFrom('lead')
    .select((eb) => eb.fn.min<Instant | null>('first_seen_at').as('at'))
    .executeTakeFirst()
  const loaded = new Date(Date.parse(first?.at ?? after) + FIRST_LOAD_MS).toISOString()
  const from = after > loaded ? after : loaded
  const given = {
    from,
    old: new Date(Date.parse(from) - OLD_MS).toISOString(),
    pipelines: pipelineIds && JSON.stringify(pipelineIds),
  }
  const ofPipelines = `(:pipelines IS NULL OR pipeline_id IN (SELECT value FROM json_each(:pipelines)))`
  // The plus keeps SQLite from reading all old leads.
  const rows = await runQuery<{ currency: string; leads: number; open: number }>(
    db,
    `SELECT coalesce(value_currency, '') AS currency, count(*) AS leads,
      coalesce(sum(value_amount) FILTER (WHERE coalesce(outcome, 'open') = 'open'), 0) AS open
    FROM lead LEFT JOIN stage USING (status)
    WHERE first_seen_at > :from AND +created_at < :old AND deleted_at IS NULL AND ${ofPipelines}
    GROUP BY 1 ORDER BY 1`,
    given,
  )
  const leads = sumOf(rows)
  if (leads < BACKFILL_MIN) return null
  const [known] = await runQuery<{ leads: number }>(
    db,
    `SELECT count(*) AS leads FROM lead WHERE first_seen_at <= :from AND ${ofPipelines}`,
    given,
  )
  if (leads < BACKFILL_SHARE * (known?.leads ?? 0)) return null
  const openValue = rows.flatMap(({ currency, open }) =>
    currency === '' || open === 0 ? [] : [{ amount: open, currency }],
  )
  return { leads, openValue }
}
