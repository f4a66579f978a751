/**
 * The relations (named subqueries) from which figures are counted. They show the leads as they were at the end of
 * a period (`:to`, not included). Each is a common table expression of plain SQLite, so that the SQL of a figure
 * runs in any SQLite program. `:pipelines` is a JSON list of ids.
 */
import type { LeadFilter } from '../../domain/figures.ts'
import { UTC_MIDNIGHT } from '../../domain/period.ts'
import { STATES_READ } from '../leads/level-change.ts'
import { changeRelations } from './change-relations.ts'
import { chosenSql } from './lead-filter.ts'
import { boundsOf, lastOrFirst, type Relation, type RelationName } from './relation-bounds.ts'

/** The time 30 days before the end of the period. A single day has too few closed leads for a win rate. */
export const RECENT = ':recent_from'
/** The SQL for a time. A lead that last changed at this time or before is stalled. */
export const STALLED_SINCE = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-' || :stalled_days || ' days')`
/** Selects the open statuses that leads have or had. */
export const OPEN_STATUSES = `(SELECT status FROM (SELECT DISTINCT status FROM lead_day) AS each
      LEFT JOIN stage USING (status) WHERE coalesce(outcome, 'open') = 'open')`
const CLOSED_STATUSES = "(SELECT status FROM stage WHERE outcome <> 'open')"
/** The columns by which leads to act on are counted and sorted. */
const DUE_WITH = 'owner, value_amount, value_currency'
const QUALIFIED_STATUSES = '(SELECT status FROM stage WHERE is_qualified = 1)'

export function relationsOf(filter: LeadFilter): Readonly<Record<RelationName, Relation>> {
  const bounds = boundsOf(filter)
  const { chosen, inScope, inPipelines, stateOf, storedOr, joinState, version } = bounds
  const isChosen = chosen.length > 0
  const isThere = `lead_id NOT IN (SELECT lead_id FROM deleted_then)${inScope()}`
  const pipelineAt = (instant: string): string =>
    storedOr(lastOrFirst(version, instant, 'pipeline_id'), 'lead.pipeline_id')
  // Each part has the whole condition, so that SQLite reads both by an index, in order of their changes.
  const openStates = (condition: string): string => {
    const isOpen = (leadId: string, changedAt: string) =>
      `status NOT IN (SELECT status FROM stage WHERE outcome <> 'open')${inScope('pipeline_id', leadId)}${
        condition &&
        ` AND ${condition.replaceAll('lead_id NOT', `${leadId} NOT`).replaceAll('changed_at', changedAt)}`
      }`
    return `SELECT lead_id, pipeline_id, changed_at FROM lead_history
    WHERE changed_at < :to AND valid_from < :to AND (valid_to IS NULL OR valid_to >= :to) AND ${isOpen('lead_id', 'changed_at')}
    UNION ALL
    SELECT id, pipeline_id, updated_at FROM lead
    WHERE updated_at < :to AND status_changed_at < :to AND derived_version IS NOT NULL AND ${isOpen('id', 'updated_at')}`
  }
  const isOpenNow = ` AND lead.status NOT IN ${CLOSED_STATUSES} AND deleted_at IS NULL${inScope('lead.pipeline_id', 'lead.no')}`
  const counted: readonly RelationName[] = [...chosen, 'day_count']

  return {
    chosen: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that meet the conditions of the filter, as they are now
    SELECT id AS lead_id, no AS lead_no FROM lead WHERE ${chosenSql(filter.conditions)}`,
    },
    day_count: {
      reads: chosen,
      ...(isChosen && { isMaterialized: true }),
      sql: `-- leads of what value that entered each state on each day, minus those that left it
    ${
      isChosen
        ? `SELECT substr(at, 1, 10) AS day, ${LEVEL_STATE}, sum(leads) AS leads, count(*) FILTER (WHERE leads > 0) AS entered,
      sum(value_amount) AS value_amount
    FROM (WITH read_state AS MATERIALIZED (
      ${STATES_READ.stored} AND state.lead_id IN (SELECT lead_id FROM chosen)
      UNION ALL ${STATES_READ.only} AND state.id IN (SELECT lead_id FROM chosen))
      ${STATES_READ.changes}) AS level_change GROUP BY day, ${LEVEL_STATE}`
        : `SELECT day, ${LEVEL_STATE}, leads, entered, value_amount FROM lead_day`
    }`,
    },
    deleted_then: {
      reads: [],
      sql: `-- leads that were deleted at the end of the period
    SELECT lead_id FROM lead_deletion WHERE deleted_since < :to AND (returned_at IS NULL OR returned_at >= :to)`,
    },
    lead_then: {
      reads: [...chosen, 'deleted_then'],
      sql: `-- leads as they were at the end of the period; a lead whose first known state began later is open, without a
    -- status. is_known tells whether the lead was read as it was then
    SELECT lead_id, created_at, pipeline_id, CASE WHEN valid_from < :to THEN state.status END AS status,
      coalesce(outcome, 'open') AS outcome, score, value_amount,
      value_currency, (valid_from < :to AND changed_at < :to) AS is_known
    FROM (SELECT lead.id AS lead_id, lead.created_at,
        ${stateOf('pipeline_id status score value_amount value_currency valid_from changed_at')}
      FROM lead ${joinState(':to')}) AS state
    LEFT JOIN stage ON stage.status = state.status AND valid_from < :to
    WHERE valid_from IS NOT NULL AND (valid_from < :to OR created_at < :to) AND ${isThere}`,
    },
    new_lead: {
      reads: [...chosen, 'deleted_then'],
      sql: `-- leads created in the period, and when their first known state began
    SELECT lead.id AS lead_id, ${pipelineAt(':to')} AS pipeline_id, source, created_at,
      ${storedOr(version('valid_from', '', 'ASC'), 'lead.status_changed_at')} AS known_since
    FROM lead
    WHERE created_at >= :from AND created_at < :to AND lead.id NOT IN (SELECT lead_id FROM deleted_then)${inScope(pipelineAt(':to'), 'lead.no')}`,
    },
    level: {
      reads: counted,
      isMaterialized: true,
      sql: `-- number and value of the leads in each state at the end of the period: all changes up to the midnight next to it,
    -- corrected by those between the two
    SELECT ${LEVEL_STATE}, coalesce(outcome, 'open') AS outcome, sum(leads) AS leads, sum(value_amount) AS value_amount
    FROM (
      SELECT ${LEVEL_STATE}, sum(leads) AS leads, sum(value_amount) AS value_amount
      FROM day_count WHERE day < ${dayNextTo(':to')}${inPipelines()} GROUP BY ${LEVEL_STATE}
      UNION ALL
      SELECT ${LEVEL_STATE}, ${signAt(':to')} * leads, ${signAt(':to')} * value_amount
      FROM level_change WHERE ${isNextTo(':to')}${inScope()}) AS change
    LEFT JOIN stage USING (status) GROUP BY ${LEVEL_STATE}, outcome HAVING sum(leads) <> 0`,
    },
    level_before: {
      reads: counted,
      sql: `-- number of leads at the beginning of the period, and whether their earlier statuses are not known
    SELECT leads, ${IS_UNKNOWN} AS is_unknown FROM day_count WHERE day < ${dayNextTo(':from')}${inPipelines()}
    UNION ALL
    SELECT ${signAt(':from')} * leads, ${IS_UNKNOWN} FROM level_change WHERE ${isNextTo(':from')}${inScope()}`,
    },
    unknown_entry: {
      reads: counted,
      sql: `-- number of leads that were created in the period and whose first status was not known: on the days between the
    -- midnights next to its ends, corrected by the time from each midnight to that end
    SELECT entered FROM day_count
    WHERE ${IS_UNKNOWN} AND day >= ${dayNextTo(':from')} AND day < ${dayNextTo(':to')}${inPipelines()}
    UNION ALL
    SELECT ${signAt(':to')} FROM level_change WHERE ${IS_UNKNOWN} AND leads = 1 AND ${isNextTo(':to')}${inScope()}
    UNION ALL
    SELECT -${signAt(':from')} FROM level_change WHERE ${IS_UNKNOWN} AND leads = 1 AND ${isNextTo(':from')}${inScope()}`,
    },
    closed: {
      reads: [...chosen, 'deleted_then'],
      sql: `-- leads that were closed at the end of the period, and since when: in the period, or in the last 30 days of it
    SELECT * FROM (
      SELECT id AS lead_id, pipeline_id, source, outcome, status_changed_at AS closed_at
      FROM stage JOIN lead USING (status)
      WHERE outcome <> 'open' AND status_changed_at >= min(:from, ${RECENT}) AND status_changed_at < :to
      UNION ALL
      SELECT lead_id, pipeline_id, (SELECT source FROM lead WHERE lead.id = lead_id), outcome, entered_at
      FROM stage CROSS JOIN stage_move
      WHERE from_status = stage.status AND outcome <> 'open' AND entered_at >= min(:from, ${RECENT}) AND entered_at < :to
        AND moved_at >= :to) AS stay
    WHERE ${isThere}`,
    },
    win: {
      reads: [...chosen, 'deleted_then', 'lead_then', 'closed'],
      sql: `-- leads won in the 30 days up to the end of the period, with their value then and the days it took
    SELECT value_amount, value_currency, julianday(closed_at) - julianday(created_at) AS days
    FROM closed CROSS JOIN lead_then
    WHERE lead_then.lead_id = closed.lead_id AND closed.outcome = 'won' AND closed_at >= ${RECENT}`,
    },
    entry: {
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
      WHERE from_status IN ${QUALIFIED_STATUSES} AND entered_at >= :from AND entered_at < :to AND created_at >= :from) AS entry
    WHERE ${isThere}`,
    },
    ended: {
      reads: chosen,
      sql: `-- each stay in a status that has ended before the end of the period; the plus keeps SQLite from reading the stays in
    -- the order of their statuses, which takes far longer than to sort them
    SELECT lead_id, pipeline_id, +from_status AS status, entered_at, moved_at AS left_at, days_before AS days
    FROM stage_move WHERE moved_at < :to${inScope()}`,
    },
    open_then: {
      reads: chosen,
      sql: `-- leads that were open at the end of the period and were read as they were then, and when that state began
    ${openStates('')}`,
    },
    touched: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that had an update or an activity in the days before the end of the period
    SELECT lead_id FROM lead_minor_update WHERE changed_at > ${STALLED_SINCE} AND changed_at < :to
    UNION SELECT lead_id FROM activity WHERE at > ${STALLED_SINCE} AND at < :to`,
    },
    longest_open: {
      reads: [...chosen, 'touched'],
      sql: `-- the leads of open_then that had no update or activity in the days before, the longest open first
    ${openStates(`lead_id NOT IN (SELECT lead_id FROM touched) AND changed_at <= ${STALLED_SINCE}`)}
    ORDER BY changed_at LIMIT :candidates`,
    },
    stalled_count: {
      reads: [...counted, 'level', 'open_then', 'touched'],
      sql: `-- number of leads that were stalled at the end of the period: the open ones, without those that had changed since
    SELECT pipeline_id, sum(leads) AS leads FROM (
    SELECT pipeline_id, leads FROM level WHERE outcome = 'open' AND is_known = 1
    UNION ALL SELECT pipeline_id, -1 FROM open_then WHERE changed_at > ${STALLED_SINCE}
    UNION ALL SELECT pipeline_id, -1 FROM open_then
      WHERE changed_at <= ${STALLED_SINCE} AND lead_id IN (SELECT lead_id FROM touched)) AS each
    GROUP BY pipeline_id`,
    },
    span: {
      reads: [],
      isMaterialized: true,
      sql: `-- spans of time, in order
    SELECT key AS place, value ->> 0 AS span_from, value ->> 1 AS span_to
    FROM json_each(:spans)`,
    },
    arrival: {
      reads: [...chosen, 'span'],
      sql: `-- leads created in each span
    SELECT place, lead.id AS lead_id, ${pipelineAt('span_to')} AS pipeline_id FROM span CROSS JOIN lead
    WHERE created_at >= span_from AND created_at < span_to${inScope(pipelineAt('span_to'), 'lead.no')}`,
    },
    arrival_gone: {
      reads: [...chosen, 'span'],
      isMaterialized: true,
      sql: `-- leads created in each span that were deleted at the end of the span
    SELECT place FROM lead_deletion CROSS JOIN lead CROSS JOIN span
    WHERE lead.id = lead_id AND lead.created_at >= (SELECT min(span_from) FROM span)
      AND created_at >= span_from AND created_at < span_to${inScope(pipelineAt('span_to'), 'lead.no')}
      AND deleted_since < span_to AND (returned_at IS NULL OR returned_at >= span_to)`,
    },
    due_today: {
      reads: chosen,
      isMaterialized: true,
      sql: `-- open leads on which a person should act, each once, with the first of its reasons
    SELECT lead_id, place, reason, at, days, ${DUE_WITH} FROM (
      SELECT *, row_number() OVER (PARTITION BY lead_id ORDER BY place, at DESC) AS nth FROM (
        SELECT id AS lead_id, 1 AS place, 'overdue' AS reason, expected_close_at AS at, CAST(NULL AS double precision) AS days, ${DUE_WITH}
        FROM lead WHERE expected_close_at < :to
          AND (expected_close_at < :today OR expected_close_at NOT LIKE '%${UTC_MIDNIGHT}')${isOpenNow}
        UNION ALL
        SELECT id, 2, 'stalling', status_changed_at, limit_days, ${DUE_WITH}
        FROM (SELECT value ->> 0 AS limited, value ->> 1 AS entered_after, value ->> 2 AS entered_by,
            CAST(value ->> 3 AS double precision) AS limit_days FROM json_each(:limits)) AS stage_limit
        CROSS JOIN lead
        WHERE lead.status = limited AND status_changed_at > entered_after AND status_changed_at <= entered_by${isOpenNow}
        UNION ALL
        SELECT id, 3, 'returned', moved_at, days_before, ${DUE_WITH} FROM stage_move CROSS JOIN lead
        WHERE lead.id = stage_move.lead_id AND moved_at >= :returned_since AND moved_at < :to
          AND from_status IN (SELECT status FROM stage WHERE outcome IN ('lost', 'disqualified'))
          AND to_status NOT IN ${CLOSED_STATUSES}${isOpenNow}
        UNION ALL
        SELECT id, 4, 'uncontacted', created_at, NULL, ${DUE_WITH} FROM lead
        WHERE created_at >= :created_since AND created_at < :to AND score >= :top_score
          AND lead.status IN (SELECT value FROM json_each(:uncontacted)) AND NOT EXISTS (SELECT 1 FROM stage_move AS earlier
            WHERE earlier.lead_id = lead.id AND from_status NOT IN (SELECT value FROM json_each(:uncontacted)))${isOpenNow}
      ) AS found) AS due
    WHERE nth = 1`,
    },
    ...changeRelations(bounds),
  }
}

/** The condition that the status of leads is not known, and that they may have moved meanwhile. */
const IS_UNKNOWN = "(status = '' AND reached = -1)"
/**
 * The day beginning at the midnight (UTC) nearest to an instant. Only hours from there are counted singly.
 */
const dayNextTo = (instant: string): string =>
  `substr(strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, '+12 hours'), 1, 10)`
/** The condition that a change came between an instant and the midnight next to it. */
const isNextTo = (instant: string): string =>
  `at >= min(${dayNextTo(instant)}, ${instant}) AND at < max(${dayNextTo(instant)}, ${instant})`
/** The SQL for 1 if a change came before an instant, or -1. */
const signAt = (instant: string): string => `iif(at < ${instant}, 1, -1)`
/** The columns that name a state of a level. */
export const LEVEL_STATE = 'pipeline_id, status, value_currency, is_known, reached'
