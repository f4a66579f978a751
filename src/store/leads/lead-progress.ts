/**
 * Finds the furthest stage that each lead has reached, from the lead's row and moves. Also counts leads by
 * this stage.
 */
import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { statement } from '../db/statement.ts'
import type { Trx } from '../db/store.ts'
import type { LeadProgress, StageMoveTable } from '../tables/lead-tables.ts'
import type { Tables } from '../tables/tables.ts'

/**
 * If the first known status of a lead began within this time after the lead's creation, the lead counts as
 * having had that status since its creation.
 */
const SETTLED_MS = 60_000

/**
 * Builds SQL for the furthest known position of a lead in the funnel: 0 for a lead that has not moved, -1 for
 * a lead whose statuses are not all known.
 * @param row `new.` or `old.` in a trigger
 */
export const reachedSql = (row: '' | 'new.' | 'old.' = ''): string =>
  `CASE WHEN ${row}reached IS NULL THEN iif(${row}status_changed_at > ${row}created_at
        AND ${row}status_changed_at > strftime('%Y-%m-%dT%H:%M:%fZ', ${row}created_at, '+60 seconds'), -1, 0)
      WHEN ${row}known_from > ${row}created_at THEN -1 ELSE ${row}reached END`

/**
 * The SQL condition that the upstream reports moves in the details of leads. If so, a move that is known only
 * from two reads of a lead may hide moves between these reads.
 */
export const HAS_STATUS_ACTIVITY = `EXISTS (
      SELECT 1 FROM (SELECT lead_id FROM lead_detail LIMIT 1000) AS detail JOIN activity USING (lead_id) WHERE to_status IS NOT NULL)`

export const REACHED: RawBuilder<unknown> = sql.raw(reachedSql())

/**
 * Selects the first status of the funnel. A lead is assumed to have this status from its creation until its
 * first move.
 */
const FIRST_STATUS = sql`(SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1)`

/**
 * The SQL for the time from which on the statuses of a lead are known. `settled_at` must be a minute after
 * the lead's creation. If a lead has no moves, only its present status is known, which began with the last
 * change of status.
 */
export const KNOWN_FROM: RawBuilder<unknown> = sql`
      CASE WHEN reached IS NULL THEN iif(status_changed_at > settled_at, status_changed_at, created_at)
        WHEN is_sampled = 1 AND ${sql.raw(HAS_STATUS_ACTIVITY)} THEN (
          SELECT max(moved_at) FROM stage_move WHERE stage_move.lead_id = lead.id AND (source = 'version'
            OR entered_at IS NULL AND from_status IS DISTINCT FROM ${FIRST_STATUS}))
        ELSE coalesce(known_from, created_at) END`

/** Computes the columns `reached`, `is_sampled` and `known_from` of leads with these ids from their moves. */
export const progressSql = (ids: Expression<unknown>): RawBuilder<unknown> => sql`
      SELECT lead_id, reached, is_sampled, coalesce(gap_ended_at, iif(began_at > created_at
        AND began_at > strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+60 seconds'), began_at, NULL)) AS known_from
      FROM (SELECT lead.id AS lead_id, lead.created_at,
          iif(count(moved_at) = 0, NULL, coalesce(max(position), 0)) AS reached,
          max(CASE stage_move.source WHEN 'version' THEN 1 WHEN 'activity' THEN 0 END) AS is_sampled,
          min(coalesce(entered_at, lead.created_at)) FILTER (WHERE moved_at IS NOT NULL) AS began_at,
          max(moved_at) FILTER (WHERE entered_at IS NULL
            AND from_status IS DISTINCT FROM ${FIRST_STATUS}) AS gap_ended_at
        FROM lead LEFT JOIN stage_move ON stage_move.lead_id = lead.id
        LEFT JOIN stage ON in_funnel = 1 AND stage.status IN (from_status, to_status)
        WHERE lead.id IN ${ids} GROUP BY lead.id, lead.created_at) AS moves`

/** Reads the statuses of the funnel with their positions, in order. */
export async function readFunnel(trx: Trx): Promise<FunnelStage[]> {
  return (await selectFunnel(trx, {})).rows
}

type FunnelStage = Pick<Tables['stage'], 'status' | 'position'>

const selectFunnel = statement((db) =>
  db
    .selectFrom('stage')
    .where('in_funnel', '=', 1)
    .orderBy('position')
    .select(['status', 'position'])
    .compile(),
)

/** Computes the same columns as {@link progressSql} for one lead, from all its moves. */
export function progressOf(
  createdAt: Instant,
  moves: readonly Omit<StageMoveTable, 'lead_id'>[],
  funnel: readonly FunnelStage[],
): LeadProgress {
  if (moves.length === 0) return progressIn(undefined)
  const statuses = new Set(moves.flatMap(({ from_status, to_status }) => [from_status, to_status]))
  const settledAt = new Date(Date.parse(createdAt) + SETTLED_MS).toISOString()
  const beganAt = moves.map(({ entered_at }) => entered_at ?? createdAt).reduce((a, b) => (b < a ? b : a))
  const gaps = moves.filter(
    ({ entered_at, from_status }) => entered_at === null && from_status !== funnel[0]?.status,
  )
  const gapEndedAt = gaps.map(({ moved_at }) => moved_at).reduce((a, b) => (b > a ? b : a), '')
  const isLate = beganAt > createdAt && beganAt > settledAt
  return {
    reached: Math.max(
      0,
      ...funnel.filter(({ status }) => statuses.has(status)).map(({ position }) => position),
    ),
    is_sampled: moves.some(({ source }) => source === 'version') ? 1 : 0,
    known_from: gapEndedAt || (isLate ? beganAt : null),
  }
}

/** Returns the columns of a lead's row that have its progress; all are null if the lead has no row yet. */
export function progressIn(row: LeadProgress | undefined): LeadProgress {
  const { reached = null, known_from = null, is_sampled = null } = row ?? {}
  return { reached, known_from, is_sampled }
}

/** Adds the leads with this number or a higher number to the counts in `lead_count`. */
export async function addCountsFrom(trx: Trx, no: number): Promise<void> {
  await sql`INSERT INTO lead_count
    SELECT pipeline_id, status, iif(value_amount IS NULL, '', ifnull(value_currency, '')), ${REACHED},
      ifnull(is_sampled, 0), count(*), sum(ifnull(value_amount, 0))
    FROM lead WHERE no >= ${no} GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT DO UPDATE SET leads = leads + excluded.leads, value_amount = value_amount + excluded.value_amount`.execute(
    trx,
  )
}
