/** The editions that are kept, without what they say, and how far their letters are. */
import { type RawBuilder, sql } from 'kysely'
import type { PeriodKind } from '../../domain/figures.ts'
import type { Instant, Period } from '../../model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'

export interface ListedEdition {
  readonly id: string
  readonly report: string
  readonly kind: PeriodKind
  readonly period: Period
  /** JSON of the filter of its readers; empty for all leads that the report is about. */
  readonly variant: string
  readonly subject: string
  readonly renderedAt: Instant
  readonly programVersion: string | null
  /** Why it was not sent at its time; null where it was, or was only looked at. */
  readonly notSent: string | null
  readonly letters: LetterCounts
}

/** Of each recipient the last letter. */
export interface LetterCounts {
  readonly total: number
  readonly sent: number
  /** Refused for good. */
  readonly failed: number
  /** May or may not have arrived. */
  readonly inDoubt: number
  /** Their recipients wanted no more before they went out. */
  readonly withdrawn: number
}

type Row = Omit<ListedEdition, 'period' | 'letters'> & Period & LetterCounts

/**
 * The newest first.
 * @param report null for all
 */
export function listEditions(db: Db, report: string | null, limit: number): Promise<ListedEdition[]> {
  return list(db, report === null ? sql<boolean>`true` : sql<boolean>`report = ${report}`, limit)
}

/** Those of these ids that there are, the newest first. */
export function listEditionsOf(db: Db, ids: readonly string[]): Promise<ListedEdition[]> {
  return list(db, sql<boolean>`id IN ${listOf(ids)}`, ids.length)
}

/** Another edition, as a link to it names it. */
export interface EditionName {
  readonly id: string
  readonly period: Period
}

/** Those before and after an edition: of the same leads, and of the same kind of period. */
export async function findNeighbours(
  db: Db,
  { report, variant, kind, period }: Pick<ListedEdition, 'report' | 'variant' | 'kind' | 'period'>,
): Promise<{ readonly older: EditionName | null; readonly newer: EditionName | null }> {
  const series = db
    .selectFrom('report_edition')
    .where('report', '=', report)
    .where('variant', '=', variant)
    .where('kind', '=', kind)
    .select(['id', 'period_from as from', 'period_to as to', 'time_zone as timeZone'])
    .limit(1)
  const older = series.where('period_to', '<', period.to).orderBy('period_to', 'desc')
  const newer = series.where('period_to', '>', period.to).orderBy('period_to')
  const [before, after] = [await older.executeTakeFirst(), await newer.executeTakeFirst()]
  return {
    older: before === undefined ? null : nameOf(before),
    newer: after === undefined ? null : nameOf(after),
  }
}

/** The others of a report whose periods end with that of an edition: of other leads, or of a week. */
export async function listBeside(
  db: Db,
  { id, report, period }: Pick<ListedEdition, 'id' | 'report' | 'period'>,
): Promise<ListedEdition[]> {
  const rows = await db
    .selectFrom('report_edition')
    .where('period_to', '=', period.to)
    .where('report', '=', report)
    .where('id', '<>', id)
    .select('id')
    .execute()
  return listEditionsOf(
    db,
    rows.map((row) => row.id),
  )
}

function nameOf({ id, ...period }: Period & { readonly id: string }): EditionName {
  return { id, period }
}

async function list(db: Db, condition: RawBuilder<boolean>, limit: number): Promise<ListedEdition[]> {
  const { rows } = await sql<Row>`
    WITH listed AS MATERIALIZED (
      SELECT id, report, kind, period_from AS "from", period_to AS "to", time_zone AS "timeZone", variant, subject,
        rendered_at AS "renderedAt", program_version AS "programVersion", not_sent AS "notSent"
      FROM report_edition WHERE ${condition}
      ORDER BY period_to DESC, rendered_at DESC, report, variant LIMIT ${limit})
    SELECT listed.*, total, sent, failed, "inDoubt", withdrawn
    FROM listed JOIN (SELECT listed.id AS counted, count(message_id) AS total,
        count(*) FILTER (WHERE state = 'sent') AS sent, count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE state = 'in_doubt') AS "inDoubt",
        count(*) FILTER (WHERE state = 'withdrawn') AS withdrawn
      FROM listed LEFT JOIN delivery ON edition_id = listed.id AND NOT EXISTS (SELECT 1 FROM delivery AS later
        WHERE later.edition_id = listed.id AND later.recipient = delivery.recipient
          AND later.revision > delivery.revision)
      GROUP BY listed.id) AS letter_count ON counted = listed.id
    ORDER BY "to" DESC, "renderedAt" DESC, report, variant`.execute(db)
  return rows.map(({ from, to, timeZone, total, sent, failed, inDoubt, withdrawn, ...edition }) => ({
    ...edition,
    period: { from, to, timeZone },
    letters: { total, sent, failed, inDoubt, withdrawn },
  }))
}

export async function countEditions(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('report_edition')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
