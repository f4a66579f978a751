/**
 * The relations (named subqueries) from which figures are counted. They show the leads as they were at the end of
 * a period (`:to`, not included). Each is a common table expression of plain SQLite, so that the SQL of a figure
 * runs in any SQLite program. `:pipelines` is a JSON list of ids.
 */
import type { LeadFilter } from '../../domain/figures.ts'
import { changeRelations } from './change-relations.ts'
import { chosenSql } from './lead-filter.ts'

/** Each relation may read only relations listed before it. */
export const RELATION_NAMES = [
  'chosen',
  'chosen_day',
  'lead_now',
  'deleted_then',
  'lead_then',
  'new_lead',
  'level_change',
  'level',
  'level_before',
  'closed',
  'win',
  'entry',
  'ended',
  'open_then',
  'touched',
  'stalled_count',
  'span',
  'arrival',
  'arrival_gone',
  'closed_now',
  'closed_once',
  'news',
  'standing',
  'change',
] as const
export type RelationName = (typeof RELATION_NAMES)[number]

export interface Relation {
  readonly reads: readonly RelationName[]
  /**
   * If true, the database computes the whole relation first. Otherwise SQLite would look up a row for each
   * candidate before it filters the candidates.
   */
  readonly isMaterialized?: true
  /** The SQL. It begins with a comment that describes the rows and names no parameter. */
  readonly sql: string
}

/** The time 30 days before the end of the period. A single day has too few closed leads for a win rate. */
export const RECENT = ':recent_from'
/** The SQL for a time. A lead that last changed at this time or before is stalled. */
export const STALLED_SINCE = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-' || :stalled_days || ' days')`
/** Selects the open statuses that leads have or had. */
export const OPEN_STATUSES = `(SELECT status FROM (SELECT DISTINCT status FROM lead_day) AS each
      LEFT JOIN stage USING (status) WHERE coalesce(outcome, 'open') = 'open')`

const QUALIFIED_STATUSES = '(SELECT status FROM stage WHERE is_qualified = 1)'

/**
 * The limits of all relations: the filter. Each method returns a piece of SQL. A stored state of a lead is a row
 * of `lead_history`. A lead that has not changed since it was first read has no stored state; its own row is its
 * only state.
 */
export interface Bounds {
  /** The relations that {@link Bounds.inScope} needs. Every relation that uses `inScope` must read them. */
  readonly chosen: readonly RelationName[]
  /**
   * Returns ` AND …` with the conditions on the pipelines and the chosen leads, or an empty text. The
   * arguments name the columns. The plus sign in the SQL keeps SQLite from looking up each chosen lead where
   * reading in order of time is faster.
   */
  inScope(pipeline?: string, lead?: string): string
  inPipelines(pipeline?: string): string
  /**
   * Selects the beginning of one stored state of `lead`. Of the states that meet a condition, it is the first
   * or the last one (`order`).
   */
  version(condition: string, order: 'ASC' | 'DESC'): string
  /**
   * Joins to `lead`, as `state`, its last stored state that began before an instant, or its first state if there
   * is no earlier one.
   */
  joinState(before: string): string
  /** Selects columns of the joined state, or of the lead's own row where that is its only state. */
  stateOf(columns: string): string
  /** Builds SQL for a value from a lead's stored states, or from its own row where that is its only state. */
  storedOr(stored: string, own: string): string
}

export function boundsOf(filter: LeadFilter): Bounds {
  const isChosen = filter.conditions.length > 0
  const inPipelines = (pipeline = 'pipeline_id'): string =>
    filter.pipelineIds === null ? '' : ` AND ${pipeline} IN (SELECT value FROM json_each(:pipelines))`
  const version: Bounds['version'] = (condition, order) =>
    `(SELECT valid_from FROM lead_history AS each WHERE each.lead_id = lead.id${condition} ORDER BY valid_from ${order} LIMIT 1)`
  const storedOr: Bounds['storedOr'] = (stored, own) =>
    `CASE WHEN lead.derived_version IS NULL THEN ${stored} ELSE ${own} END`
  return {
    chosen: isChosen ? ['chosen'] : [],
    inPipelines,
    inScope: (pipeline, lead = 'lead_id') =>
      `${inPipelines(pipeline)}${isChosen ? ` AND +${lead} IN (SELECT ${lead === 'lead.no' ? 'lead_no' : 'lead_id'} FROM chosen)` : ''}`,
    version,
    storedOr,
    joinState: (before) => `LEFT JOIN lead_history AS state
        ON lead.derived_version IS NULL AND state.lead_id = lead.id AND state.valid_from = ${lastOrFirst(version, before)}`,
    stateOf: (columns) =>
      columns
        .split(' ')
        .map(
          (column) => `${storedOr(`state.${column}`, OWN_COLUMNS[column] ?? `lead.${column}`)} AS ${column}`,
        )
        .join(', '),
  }
}

/** The columns of a state that have another name in the table `lead`, each with its SQL there. */
const OWN_COLUMNS: Readonly<Record<string, string>> = {
  valid_from: 'lead.status_changed_at',
  changed_at: 'lead.updated_at',
  status_changed_at: 'CASE WHEN lead.derived_version = 1 THEN lead.status_changed_at END',
}

/**
 * Selects the beginning of the last state that began before an instant, or else the beginning of the first
 * state.
 */
const lastOrFirst = (version: Bounds['version'], before: string): string =>
  `coalesce(
      ${version(` AND valid_from < ${before}`, 'DESC')},
      ${version('', 'ASC')})`

/** Builds all relations by name. */
export function relationsOf(filter: LeadFilter): Readonly<Record<RelationName, Relation>> {
  const bounds = boundsOf(filter)
  const { chosen, inScope, inPipelines, stateOf, storedOr, joinState, version } = bounds
  const isChosen = chosen.length > 0
  const isThere = `lead_id NOT IN (SELECT lead_id FROM deleted_then)${inScope()}`
  const pipelineAt = (instant: string): string =>
    storedOr(
      `(SELECT pipeline_id FROM lead_history AS state
      WHERE state.lead_id = lead.id AND state.valid_from = ${lastOrFirst(version, instant)})`,
      'lead.pipeline_id',
    )
  // The days before the day of an instant, and the part of that day before the instant.
  const changesBefore = (instant: string): string => `
    SELECT ${LEVEL_COLUMNS} FROM ${isChosen ? 'chosen_day' : 'lead_day'} WHERE day < substr(${instant}, 1, 10)${inPipelines()}
    UNION ALL
    SELECT ${LEVEL_COLUMNS} FROM lead_event WHERE at >= substr(${instant}, 1, 10) AND at < ${instant}${inScope()}`
  const counted: readonly RelationName[] = isChosen ? ['chosen', 'chosen_day'] : []

  return {
    chosen: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that meet the conditions of the filter, as they are now
    SELECT id AS lead_id, no AS lead_no FROM lead WHERE ${chosenSql(filter.conditions)}`,
    },
    chosen_day: {
      reads: ['chosen'],
      isMaterialized: true,
      sql: `-- the counts of lead_day, but of the chosen leads alone
    SELECT substr(at, 1, 10) AS day, pipeline_id, status, value_currency, is_known, reached,
      sum(leads) AS leads, sum(value_amount) AS value_amount
    FROM lead_event WHERE lead_id IN (SELECT lead_id FROM chosen) GROUP BY 1, 2, 3, 4, 5, 6`,
    },
    lead_now: {
      reads: chosen,
      sql: `-- leads as they are now
    SELECT id AS lead_id, pipeline_id, status, created_at, status_changed_at
    FROM ${isChosen ? 'chosen CROSS JOIN lead WHERE lead.no = lead_no' : 'lead WHERE true'}${inPipelines()}`,
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
    SELECT lead_id, created_at, pipeline_id, stage.status, coalesce(outcome, 'open') AS outcome, score, value_amount,
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
      ${storedOr(version('', 'ASC'), 'lead.status_changed_at')} AS known_since
    FROM lead
    WHERE created_at >= :from AND created_at < :to AND lead.id NOT IN (SELECT lead_id FROM deleted_then)${inScope(pipelineAt(':to'), 'lead.no')}`,
    },
    level_change: {
      reads: counted,
      sql: `-- how many leads of what value had entered and left each state before the end of the period${changesBefore(':to')}`,
    },
    level: {
      reads: [...counted, 'level_change'],
      isMaterialized: true,
      sql: `-- number and value of the leads in each state at the end of the period
    SELECT ${LEVEL_STATE}, coalesce(outcome, 'open') AS outcome, sum(leads) AS leads, sum(value_amount) AS value_amount
    FROM level_change LEFT JOIN stage USING (status) GROUP BY ${LEVEL_STATE}, outcome HAVING sum(leads) <> 0`,
    },
    level_before: {
      reads: counted,
      isMaterialized: true,
      sql: `-- number of leads by status at the beginning of the period; the status is empty if it is not known
    SELECT status, sum(leads) AS leads FROM (${changesBefore(':from')}) AS change GROUP BY status`,
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
      sql: `-- each stay in a status that has ended before the end of the period
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, days_before AS days
    FROM stage_move WHERE moved_at < :to${inScope()}`,
    },
    open_then: {
      reads: chosen,
      sql: `-- leads that were open at the end of the period and were read as they were then, and when that state began
    SELECT lead_id, pipeline_id, changed_at FROM (
      SELECT lead_id, pipeline_id, status, changed_at FROM lead_history
      WHERE changed_at < :to AND valid_from < :to AND (valid_to IS NULL OR valid_to >= :to)
      UNION ALL
      SELECT id, pipeline_id, status, updated_at FROM lead
      WHERE updated_at < :to AND status_changed_at < :to AND derived_version IS NOT NULL) AS state
    WHERE status NOT IN (SELECT status FROM stage WHERE outcome <> 'open')${inScope()}`,
    },
    touched: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads that had an update or an activity in the days before the end of the period
    SELECT lead_id FROM lead_minor_update WHERE changed_at > ${STALLED_SINCE} AND changed_at < :to
    UNION SELECT lead_id FROM activity WHERE at > ${STALLED_SINCE} AND at < :to`,
    },
    stalled_count: {
      reads: [...counted, 'level_change', 'level', 'open_then', 'touched'],
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
      sql: `-- spans of time, in order, each with the time 30 days before its end
    SELECT key AS place, value ->> 0 AS span_from, value ->> 1 AS span_to, value ->> 2 AS span_recent
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
    closed_now: {
      reads: chosen,
      sql: `-- leads that are closed now, and since when
    SELECT id AS lead_id, pipeline_id, outcome, status_changed_at AS closed_at
    FROM stage CROSS JOIN lead WHERE lead.status = stage.status AND outcome <> 'open'${inScope('pipeline_id', 'lead.no')}`,
    },
    closed_once: {
      reads: chosen,
      sql: `-- each time that a lead was closed and then reopened
    SELECT lead_id, pipeline_id, outcome, entered_at AS closed_at, moved_at AS reopened_at
    FROM stage CROSS JOIN stage_move WHERE from_status = stage.status AND outcome <> 'open'${inScope()}`,
    },
    ...changeRelations(bounds),
  }
}

/** The columns that name a state of a level. */
const LEVEL_STATE = 'pipeline_id, status, value_currency, is_known, reached'
const LEVEL_COLUMNS = `${LEVEL_STATE}, leads, value_amount`
