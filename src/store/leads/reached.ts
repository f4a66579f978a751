/**
 * The highest position in the funnel that a lead had reached when a state of it began: 0 for the first stage, or if
 * it was in no stage of the funnel; -1 if its earlier statuses are not known. They are known if its first known state began within a
 * minute after its creation, or if the moves of its activity tell them.
 */
import { sql } from 'kysely'
import { textsIn } from '../db/rows.ts'
import { statement } from '../db/statement.ts'
import type { Trx } from '../db/store.ts'

interface StateSql {
  readonly leadId: string
  readonly createdAt: string
  readonly first: string
  readonly began: string
  /** The highest position in the funnel of the statuses that were read up to this state; null for none. */
  readonly position: string
}

/** Looked up once in a statement: after a first load there are no moves yet, and all leads are counted. */
const HAS_MOVES = 'EXISTS (SELECT 1 FROM stage_move)'

/** Builds the condition that a lead was first known more than a minute after its creation. */
export const isFirstKnownLate = ({ first, createdAt }: Pick<StateSql, 'first' | 'createdAt'>): string =>
  `${first} > ${createdAt} AND ${first} > strftime('%Y-%m-%dT%H:%M:%fZ', ${createdAt}, '+60 seconds')`

/**
 * Builds the condition that the moves of a lead, which its activity names, tell all its statuses since its creation.
 * Before its first move, a lead is taken to have had the first status of the funnel.
 */
export const isTraced = (leadId: string, createdAt: string): string => `(${HAS_MOVES} AND EXISTS (
        SELECT count(*) FROM stage_move AS move WHERE move.lead_id = ${leadId}
        HAVING min(coalesce(entered_at, ${createdAt})) <= strftime('%Y-%m-%dT%H:%M:%fZ', ${createdAt}, '+60 seconds')
          AND count(*) FILTER (WHERE entered_at IS NULL AND from_status IS DISTINCT FROM (
            SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1)) = 0))`

export const reachedBy = (state: StateSql): string =>
  `iif(${isFirstKnownLate(state)} AND NOT ${isTraced(state.leadId, state.createdAt)}, -1, max(0,
        coalesce(${state.position}, 0),
        iif(${HAS_MOVES}, coalesce((SELECT max(position) FROM stage_move AS move JOIN stage ON stage.status IN (from_status, to_status)
          WHERE in_funnel = 1 AND move.lead_id = ${state.leadId} AND moved_at <= ${state.began}), 0), 0)))`

/** The SQL for `reached` of a row `state` of `lead_history`, from its lead's statuses and moves. */
export const REACHED_OF_STORED = reachedBy({
  leadId: 'state.lead_id',
  createdAt: '(SELECT created_at FROM lead WHERE lead.id = state.lead_id)',
  first: '(SELECT min(each.valid_from) FROM lead_history AS each WHERE each.lead_id = state.lead_id)',
  began: 'state.valid_from',
  position: `(SELECT max(position) FROM lead_history AS each JOIN stage ON stage.status = each.status
          WHERE in_funnel = 1 AND each.lead_id = state.lead_id AND each.valid_from <= state.valid_from)`,
})
/** Sets `reached` of all stored states. It is needed after the stages of the funnel have changed. */
export const SET_REACHED = `UPDATE lead_history AS state SET reached = ${REACHED_OF_STORED}`

/** Sets `reached` of the stored states of leads. Call this function after their states or moves have changed. */
export async function setReached(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await setReachedOf(trx, { ids: JSON.stringify(ids) })
}

const setReachedOf = statement((db, { ids }: { ids: string }) =>
  sql`${sql.raw(SET_REACHED)} WHERE lead_id IN ${textsIn(ids)} AND reached IS DISTINCT FROM ${sql.raw(REACHED_OF_STORED)}`.compile(
    db,
  ),
)
