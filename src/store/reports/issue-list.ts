/** Lists the stored issues without their text, with the states of their messages. */
import { type RawBuilder, sql } from 'kysely'
import type { PeriodKind } from '../../domain/figures.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'

export interface ListedIssue {
  readonly id: string
  readonly report: string
  readonly kind: PeriodKind
  readonly period: Period
  /** The recipients' filter of leads as JSON; empty for all leads of the report. */
  readonly variant: string
  readonly subject: string
  readonly renderedAt: Instant
  readonly programVersion: string | null
  /** Null if it was sent, or was made only for viewing. */
  readonly notSent: string | null
  /** The counts of the first message to each recipient. They show how many recipients got the report. */
  readonly messages: MessageCounts
  /** The counts of new copies that were sent later. For each recipient, only the last copy counts. */
  readonly copies: MessageCounts
}

/** The messages in each final state, and all. The others wait to be sent. */
export interface MessageCounts {
  readonly total: number
  readonly sent: number
  readonly failed: number
  readonly unconfirmed: number
  /** The number of messages whose recipient unsubscribed before the message was sent. */
  readonly withdrawn: number
}

const STATES = ['sent', 'failed', 'unconfirmed', 'withdrawn'] as const satisfies (keyof MessageCounts)[]

type CountColumns<Kind extends string> = Record<`${Kind}_${keyof MessageCounts}`, number>
type Row = Omit<ListedIssue, 'period' | 'messages' | 'copies'> &
  Period &
  CountColumns<'first'> &
  CountColumns<'copy'>

/** Lists the issues, newest first; `report` is null for all reports. */
export function listIssues(db: Db, report: string | null, limit: number): Promise<ListedIssue[]> {
  return list(db, report === null ? sql<boolean>`true` : sql<boolean>`report = ${report}`, limit)
}

export function listIssuesOf(db: Db, ids: readonly string[]): Promise<ListedIssue[]> {
  return list(db, sql<boolean>`id IN ${listOf(ids)}`, ids.length)
}

export interface IssueName {
  readonly id: string
  readonly period: Period
}

/** Finds the previous and next issue with the same filter of leads and kind of period. */
export async function findNeighbours(
  db: Db,
  { report, variant, kind, period }: Pick<ListedIssue, 'report' | 'variant' | 'kind' | 'period'>,
): Promise<{ readonly older: IssueName | null; readonly newer: IssueName | null }> {
  const series = db
    .selectFrom('report_issue')
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

function nameOf({ id, ...period }: Period & { readonly id: string }): IssueName {
  return { id, period }
}

async function list(db: Db, condition: RawBuilder<boolean>, limit: number): Promise<ListedIssue[]> {
  const { rows } = await sql<Row>`
    WITH listed AS MATERIALIZED (
      SELECT id, report, kind, period_from AS "from", period_to AS "to", time_zone AS "timeZone", variant, subject,
        rendered_at AS "renderedAt", program_version AS "programVersion", not_sent AS "notSent"
      FROM report_issue WHERE ${condition}
      ORDER BY period_to DESC, rendered_at DESC, report, variant LIMIT ${limit})
    SELECT * FROM listed JOIN (
      SELECT listed.id AS counted, ${countColumns('first', sql`revision = 0`)}, ${countColumns('copy', sql`revision > 0`)}
      FROM listed LEFT JOIN delivery ON issue_id = listed.id AND (revision = 0 OR NOT EXISTS (
        SELECT 1 FROM delivery AS later WHERE later.issue_id = listed.id AND later.recipient = delivery.recipient
          AND later.revision > delivery.revision))
      GROUP BY listed.id) AS message_count ON counted = listed.id
    ORDER BY "to" DESC, "renderedAt" DESC, report, variant`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    report: row.report,
    kind: row.kind,
    variant: row.variant,
    subject: row.subject,
    renderedAt: row.renderedAt,
    programVersion: row.programVersion,
    notSent: row.notSent,
    period: { from: row.from, to: row.to, timeZone: row.timeZone },
    messages: {
      total: row.first_total,
      sent: row.first_sent,
      failed: row.first_failed,
      unconfirmed: row.first_unconfirmed,
      withdrawn: row.first_withdrawn,
    },
    copies: {
      total: row.copy_total,
      sent: row.copy_sent,
      failed: row.copy_failed,
      unconfirmed: row.copy_unconfirmed,
      withdrawn: row.copy_withdrawn,
    },
  }))
}

/** Counts the messages that satisfy `condition`, in columns such as `first_total` and `first_sent`. */
function countColumns(kind: 'first' | 'copy', condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const total = sql`count(*) FILTER (WHERE ${condition}) AS ${sql.ref(`${kind}_total`)}`
  const states = STATES.map(
    (state) =>
      sql`count(*) FILTER (WHERE ${condition} AND state = ${sql.lit(state)}) AS ${sql.ref(`${kind}_${state}`)}`,
  )
  return sql.join([total, ...states])
}

export async function countIssues(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('report_issue')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
