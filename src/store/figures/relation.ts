/**
 * The relations from which figures are counted. They show the leads as they were at the end of a period
 * (`:to`, not included), and are derived from the history of the leads. Each is a common table expression of
 * plain SQLite, so that the SQL of a figure runs in any SQLite program. `:pipelines` is a JSON list of ids.
 * With `:known_at`, data that was read later is left out.
 */
import type { LeadFilter } from '../../domain/figures.ts'
import { reachedSql } from '../leads/lead-progress.ts'
import { changeRelations } from './change-relations.ts'
import { chosenSql } from './lead-filter.ts'
import type { Relation, RelationName } from './relation-parts.ts'
import {
  boundsOf,
  funnelRelations,
  idleRelations,
  KNOWN_NOW,
  KNOWN_THEN,
  LEADS_IF_NEW,
  LEADS_IF_OLD,
  readAfter,
  readBefore,
  STAYS_IF_OLD,
  spanRelations,
  unsureOnlyState,
  unsureStates,
} from './relation-parts.ts'

/** The time 30 days before the end of the period. A single day has too few closed leads for a win rate. */
export const RECENT = ':recent_from'

/** Selects the open statuses that leads have now. This form lets SQLite use an index on the status. */
export const OPEN_STATUSES = `(SELECT status FROM lead_count LEFT JOIN stage USING (status) WHERE coalesce(outcome, 'open') = 'open')`

const QUALIFIED_STATUSES = '(SELECT status FROM stage WHERE is_qualified = 1)'

/**
 * The SQL for the currency of a value. As in `lead_count`, it is an empty text where the currency or the
 * value is missing.
 */
const CURRENCY = `iif(value_amount IS NULL, '', ifnull(value_currency, ''))`

const VALUED = 'lead_id, outcome, value_currency, value_amount'

/**
 * Builds all relations by name.
 * @param isPast whether the figures count only data that was known at `:known_at`
 */
export function relationsOf(isPast: boolean, filter: LeadFilter): Readonly<Record<RelationName, Relation>> {
  const bounds = boundsOf(isPast, filter)
  const { chosen, inScope, inPipelines, past, stateOf, joinState, pipelineAt } = bounds
  const isChosen = chosen.length > 0
  const counts = isChosen ? 'chosen_count' : 'lead_count'
  const counted: readonly RelationName[] = isChosen ? ['chosen', 'chosen_count'] : []
  /**
   * Builds the condition that a stay in a stage was known at `:known_at`. A stay is known as soon as the move
   * that began it is known. If no move began the stay, it is known as soon as the lead was first read.
   */
  const knownStay = (lead: string, condition: string): string =>
    past(`AND coalesce((SELECT observed_at FROM stage_move AS begun WHERE begun.lead_id = ${lead}${condition}
        ORDER BY moved_at DESC LIMIT 1), (SELECT first_seen_at FROM lead AS seen WHERE seen.id = ${lead})) <= :known_at`)
  // Leaves out stays that ended before the end of this period. The temporary table of `reopened` has such
  // stays if it was filled for an earlier period.
  const isReopened = isPast
    ? '(reopened_at >= :to OR reopened.observed_at > :known_at)'
    : 'reopened_at >= :to'
  const isThere = `lead_id NOT IN (SELECT lead_id FROM deleted_then)${inScope()}`

  return {
    chosen: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that meet the conditions of the filter, as they are now
    SELECT id AS lead_id, no AS lead_no FROM lead WHERE ${chosenSql(filter.conditions)}`,
    },
    chosen_count: {
      reads: ['chosen'],
      isMaterialized: true,
      sql: `-- the counts of lead_count, but of the chosen leads alone
    SELECT pipeline_id, status, ${CURRENCY} AS value_currency, ${reachedSql()} AS reached,
      ifnull(is_sampled, 0) AS is_sampled, count(*) AS leads, sum(ifnull(value_amount, 0)) AS value_amount
    FROM chosen JOIN lead ON lead.no = lead_no WHERE deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5`,
    },
    lead_now: {
      reads: chosen,
      sql: `-- leads as they are now
    SELECT id AS lead_id, pipeline_id, status, created_at, status_changed_at
    FROM ${isChosen ? 'chosen CROSS JOIN lead WHERE lead.no = lead_no' : 'lead WHERE true'}${inPipelines()}`,
    },
    level_now: {
      reads: counted,
      sql: `-- number and value of the leads as they are now, by pipeline, outcome and currency
    SELECT pipeline_id, coalesce(outcome, 'open') AS outcome, value_currency, leads, value_amount
    FROM ${counts} LEFT JOIN stage USING (status) WHERE true${inPipelines()}`,
    },
    state: {
      reads: chosen,
      sql: `-- the stored states of leads that have changed since they were first read, with their outcome and value
    SELECT lead_id, pipeline_id, coalesce(outcome, 'open') AS outcome, ${CURRENCY} AS value_currency,
      ifnull(value_amount, 0) AS value_amount, valid_from, valid_to, changed_at
    FROM lead_history LEFT JOIN stage USING (status) WHERE true${inScope()}`,
    },
    only_state: {
      reads: chosen,
      sql: `-- the single state of each lead that has not changed since it was first read, with its outcome and value
    SELECT id AS lead_id, pipeline_id, coalesce(outcome, 'open') AS outcome, ${CURRENCY} AS value_currency,
      ifnull(value_amount, 0) AS value_amount, status_changed_at AS valid_from, updated_at AS changed_at
    -- goes status by status, because an index lists the leads of a status by the start of their state
    FROM (SELECT DISTINCT status AS each_status FROM lead_count) AS each CROSS JOIN lead LEFT JOIN stage USING (status)
    WHERE lead.status = each_status AND derived_version IS NOT NULL${inScope('pipeline_id', 'lead.no')}`,
    },
    early: {
      reads: chosen,
      sql: `-- leads that were first read after the period and had changed since: their value is unknown before known_from,
    -- and their status before ended_at, when their first known state began
    SELECT lead_id, pipeline_id, coalesce(outcome, 'open') AS outcome, ${CURRENCY} AS value_currency,
      ifnull(value_amount, 0) AS value_amount, created_at, max(created_at, min(first_seen_at, valid_from)) AS ended_at,
      max(valid_from, changed_at) AS known_from
    FROM (SELECT lead.id AS lead_id, +lead.created_at AS created_at, lead.first_seen_at, ${stateOf('pipeline_id status value_amount value_currency')},
        ${stateOf('valid_from changed_at')}
      -- finds these leads by the index on first_seen_at; a lead that was not updated since has its state of then
      FROM (SELECT id AS arrived_id FROM lead
        WHERE first_seen_at >= :to AND created_at < first_seen_at AND +updated_at >= :to) AS arrived
      CROSS JOIN lead ${joinState(null)} WHERE lead.id = arrived_id) AS state
    LEFT JOIN stage USING (status)
    WHERE max(valid_from, changed_at) >= :to${inScope()}`,
    },
    early_once: {
      reads: [...chosen, 'early'],
      isMaterialized: true,
      sql: '-- the leads of early, computed once\n    SELECT * FROM early',
    },
    deleted_then: {
      reads: [],
      sql: `-- leads that were deleted at the end of the period
    SELECT lead_id FROM lead_deletion
    WHERE deleted_since < :to AND (returned_at IS NULL OR returned_at >= :to${past('OR returned_at > :known_at')})${past('AND deleted_since <= :known_at')}`,
    },
    lead_then: {
      reads: [...chosen, 'deleted_then'],
      sql: `-- leads as they were at the end of the period; a lead whose first known state began later is open, without a status
    SELECT lead_id, created_at, pipeline_id, stage.status, coalesce(outcome, 'open') AS outcome, score, value_amount,
      value_currency
    FROM (SELECT lead.id AS lead_id, lead.created_at, ${stateOf('pipeline_id status score value_amount value_currency')},
        ${stateOf('valid_from')}
      FROM lead ${joinState(':to')}) AS state
    LEFT JOIN stage ON stage.status = state.status AND valid_from < :to
    WHERE valid_from IS NOT NULL AND (valid_from < :to OR created_at < :to) AND lead_id NOT IN (SELECT lead_id FROM deleted_then)${inScope()}`,
    },
    new_lead: isPast
      ? {
          reads: [...chosen, 'deleted_then', 'lead_then'],
          sql: `-- leads created in the period
    SELECT lead_id, lead_then.pipeline_id, source FROM lead_then JOIN lead ON lead.id = lead_id
    WHERE lead_then.created_at >= :from AND lead_then.created_at < :to`,
        }
      : {
          reads: [...chosen, 'deleted_then'],
          sql: `-- leads created in the period
    SELECT lead.id AS lead_id, ${pipelineAt(':to')} AS pipeline_id, source FROM lead
    WHERE created_at >= :from AND created_at < :to AND lead.id NOT IN (SELECT lead_id FROM deleted_then)${inScope(pipelineAt(':to'), 'lead.no')}`,
        },
    level_stored: isPast
      ? {
          reads: [...chosen, 'deleted_then', 'lead_then'],
          sql: `-- leads at the end of the period, each with its pipeline, outcome, currency and value
    SELECT pipeline_id, outcome, ${CURRENCY} AS value_currency, 1 AS leads, ifnull(value_amount, 0) AS value_amount
    FROM lead_then`,
        }
      : {
          reads: [...counted, 'level_now', 'state', 'only_state'],
          sql: `-- number and value of the leads at the end of the period, by pipeline, outcome and currency, from their known
    -- states: the counts of now, plus the states that have ended since, minus the states that have begun since
    SELECT pipeline_id, outcome, value_currency, sum(leads) AS leads, total(value_amount) AS value_amount FROM (
    SELECT * FROM level_now
    UNION ALL
    SELECT pipeline_id, outcome, value_currency, 1, value_amount FROM state WHERE valid_to >= :to AND valid_to < :until
    UNION ALL
    SELECT pipeline_id, outcome, value_currency, -1, -value_amount FROM state WHERE valid_from >= :to AND valid_from < :until
    UNION ALL
    SELECT pipeline_id, outcome, value_currency, -1, -value_amount FROM only_state
    WHERE valid_from >= :to AND valid_from < :until) AS counted
    GROUP BY pipeline_id, outcome, value_currency`,
        },
    level: isPast
      ? {
          reads: [...chosen, 'deleted_then', 'lead_then', 'level_stored'],
          sql: `-- the leads of level_stored
    SELECT * FROM level_stored`,
        }
      : {
          reads: [...counted, 'level_now', 'state', 'only_state', 'early', 'level_stored'],
          sql: `-- the leads of level_stored, and those that existed then but whose first known state began later
    SELECT * FROM level_stored
    UNION ALL
    SELECT pipeline_id, 'open', value_currency, 1, value_amount FROM early WHERE created_at < :to AND ended_at >= :to`,
        },
    value_unsure: {
      reads: [...chosen, 'state', 'only_state', 'early'],
      sql: `-- leads whose value at the end of the period is not known, because they were first read after a later change, or
    -- changed after that end and before the next sync
    SELECT lead_id, iif(ended_at >= :to, 'open', outcome) AS outcome, value_currency, value_amount
    FROM early WHERE created_at < :to AND known_from >= :to
    UNION ALL
    SELECT ${VALUED} FROM (
      ${unsureStates(VALUED, ':to', readAfter(':to', past('AND leads_as_of <= :known_at')), readBefore(':to'))}
      UNION ALL
      SELECT ${VALUED} FROM only_state WHERE ${unsureOnlyState(':to', readBefore(':to'))}) AS unsure
    WHERE lead_id NOT IN (SELECT lead_id FROM early WHERE known_from >= :to)`,
    },
    changed: {
      reads: [],
      sql: isPast
        ? `-- leads that have changed since the end of the period
    SELECT lead_id FROM lead_version WHERE valid_from >= :to OR observed_at > :known_at
    UNION ALL SELECT lead_id FROM lead_deletion WHERE deleted_since >= :to OR deleted_since > :known_at OR returned_at > :known_at
    UNION ALL SELECT id FROM lead
      WHERE status IN (SELECT status FROM lead_count) AND updated_at >= :to AND deleted_at IS NULL OR observed_at > :known_at`
        : `-- leads that existed at the end of the period and have changed since
    SELECT lead_id FROM lead_history WHERE valid_to >= :to AND valid_from < :to
    UNION ALL SELECT lead_id FROM lead_deletion WHERE deleted_since >= :to OR returned_at >= :to
    UNION ALL SELECT id FROM ${LEADS_IF_NEW}
      WHERE status IN (SELECT status FROM lead_count) AND updated_at >= :to AND deleted_at IS NULL
    -- if the period ended long ago, most leads have changed, so all rows are read once
    UNION ALL SELECT id FROM ${LEADS_IF_OLD} WHERE +created_at < :to AND +updated_at >= :to
    UNION ALL SELECT id FROM ${STAYS_IF_OLD} AND status_changed_at < :to AND +created_at >= :to`,
    },
    reopened: {
      reads: [],
      isMaterialized: true,
      sql: `-- stays in closed stages that have ended since the end of the period
    SELECT lead_id, pipeline_id, outcome, entered_at AS closed_at, moved_at AS reopened_at,
      ${isPast ? 'observed_at' : 'CAST(NULL AS TEXT)'} AS observed_at
    -- begins with the moves since then, because otherwise SQLite sorts all moves
    FROM stage_move CROSS JOIN stage
    WHERE status = from_status AND outcome <> 'open' AND (moved_at >= :to${past('OR observed_at > :known_at')})`,
    },
    closed: {
      reads: [...chosen, 'deleted_then', 'reopened'],
      sql: `-- leads that were closed at the end of the period, and since when
    SELECT * FROM (
      SELECT id AS lead_id, pipeline_id, source, outcome, status_changed_at AS closed_at
      FROM stage JOIN lead USING (status)
      WHERE outcome <> 'open' AND status_changed_at < :to${knownStay('lead.id', '')}
      UNION ALL
      SELECT lead_id, pipeline_id, (SELECT source FROM lead WHERE lead.id = lead_id), outcome, closed_at
      FROM reopened WHERE closed_at < :to AND ${isReopened}${knownStay('reopened.lead_id', ' AND begun.moved_at < reopened.reopened_at')}) AS stay
    WHERE ${isThere}`,
    },
    closed_now: {
      reads: chosen,
      sql: `-- leads that are closed now, and since when
    SELECT id AS lead_id, pipeline_id, outcome, status_changed_at AS closed_at
    FROM stage CROSS JOIN lead WHERE lead.status = stage.status AND outcome <> 'open'${inScope('pipeline_id', 'lead.no')}`,
    },
    closed_once: {
      reads: [...chosen, 'reopened'],
      sql: `-- each time that a lead was closed and then, after the end of the period, reopened
    SELECT lead_id, pipeline_id, outcome, closed_at, reopened_at FROM reopened WHERE closed_at IS NOT NULL${inScope()}`,
    },
    win: {
      reads: [...chosen, 'deleted_then', 'lead_then', 'reopened', 'closed'],
      sql: `-- leads won in the 30 days up to the end of the period, with their value then and the days it took
    SELECT value_amount, value_currency, julianday(closed_at) - julianday(created_at) AS days
    FROM closed CROSS JOIN lead_then
    WHERE lead_then.lead_id = closed.lead_id AND closed.outcome = 'won' AND closed_at >= ${RECENT}`,
    },
    entered: {
      reads: [],
      sql: `-- each time that a lead entered a status, by the states and the activity that were known
    SELECT step.lead_id, lead.pipeline_id, lead.created_at, step.status, step.at AS entered_at, before_at,
      coalesce(activity_from, before) AS from_status, before, activity_from
    FROM (SELECT *, lag(status) OVER lead_in_order AS before, lag(at) OVER lead_in_order AS before_at
      FROM (SELECT *, lag(status) OVER lead_in_order AS repeated FROM (
          -- when a deleted lead returns, its state begins with the return, but its status may have begun earlier
          SELECT lead_id, min(valid_from, ifnull(status_changed_at, changed_at)) AS at, status, NULL AS activity_from
          FROM lead_version WHERE observed_at <= :known_at
          UNION ALL
          SELECT lead_id, at, to_status, from_status
          FROM activity WHERE first_seen_at <= :known_at AND to_status IS NOT NULL AND from_status IS DISTINCT FROM to_status) AS step
        WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY at, activity_from IS NULL)) AS step
      WHERE repeated IS DISTINCT FROM status
      WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY at, activity_from IS NULL)) AS step
    JOIN lead ON lead.id = step.lead_id`,
    },
    entry: isPast
      ? {
          reads: [...chosen, 'deleted_then', 'entered'],
          sql: `-- each time that a lead entered a qualified stage in the period; a lead that was first read in such a stage
    -- counts only if it was created in the period
    SELECT lead_id, pipeline_id, entered_at FROM entered
    WHERE status IN ${QUALIFIED_STATUSES} AND entered_at >= :from AND entered_at < :to AND ${isThere}
      AND (from_status IS NOT NULL OR lead_id IN (SELECT id FROM lead WHERE created_at >= :from))`,
        }
      : {
          reads: [...chosen, 'deleted_then'],
          sql: `-- each time that a lead entered a qualified stage in the period; a lead that was first read in such a stage
    -- counts only if it was created in the period
    SELECT * FROM (
      SELECT lead_id, pipeline_id, moved_at AS entered_at
      FROM stage_move WHERE to_status IN ${QUALIFIED_STATUSES} AND moved_at >= :from AND moved_at < :to
      UNION ALL
      SELECT id, pipeline_id, status_changed_at
      FROM lead WHERE status IN ${QUALIFIED_STATUSES} AND status_changed_at >= :from AND status_changed_at < :to AND created_at >= :from
      UNION ALL
      SELECT move.lead_id, move.pipeline_id, entered_at FROM stage_move AS move JOIN lead ON lead.id = move.lead_id
      WHERE from_status IN ${QUALIFIED_STATUSES} AND moved_at >= :from AND entered_at >= :from AND entered_at < :to AND created_at >= :from) AS entry
    WHERE ${isThere}`,
        },
    ended: isPast
      ? {
          reads: [...chosen, 'entered'],
          sql: `-- each stay in a status that has ended before the end of the period
    SELECT lead_id, pipeline_id, from_status AS status, before_at AS entered_at, entered_at AS left_at,
      round(julianday(entered_at) - julianday(before_at), 4) AS days
    FROM (SELECT lead_id, pipeline_id, from_status, entered_at, status, iif(before = from_status, before_at, NULL) AS before_at
      FROM entered) AS stay
    WHERE from_status IS NOT NULL AND from_status <> status AND entered_at < :to${inScope()}`,
        }
      : {
          reads: chosen,
          sql: `-- each stay in a status that has ended before the end of the period
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, days_before AS days
    FROM stage_move WHERE moved_at < :to${inScope()}`,
        },
    in_question: {
      reads: isPast ? [...chosen, 'deleted_then', 'entered'] : [...chosen, 'deleted_then'],
      sql: `-- leads whose status may have changed in the period, and the time since when all their statuses are known
    SELECT * FROM (${isPast ? KNOWN_THEN : KNOWN_NOW}) AS lead_known
    WHERE changed_at >= :from AND created_at < :to AND ${isThere}`,
    },
    open_now: {
      reads: counted,
      sql: `-- how many leads are open now
    SELECT pipeline_id, leads FROM ${counts} WHERE status IN ${OPEN_STATUSES}${inPipelines()}`,
    },
    idle: {
      reads: chosen,
      sql: `-- leads that are open now, and the time of their last change of any kind
    SELECT id AS lead_id, status, pipeline_id, updated_at AS changed_at
    FROM lead WHERE status IN ${OPEN_STATUSES} AND deleted_at IS NULL${inScope('pipeline_id', 'lead.no')}`,
    },
    ...idleRelations(bounds, counted),
    ...funnelRelations(bounds),
    ...spanRelations(bounds),
    ...changeRelations(bounds),
  }
}
