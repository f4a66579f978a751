/**
 * The parts of `relation.ts`: the names and limits of the relations (named subqueries from which figures are
 * counted), and the relations with the longest SQL.
 */
import type { LeadFilter } from '../../domain/figures.ts'
import { HAS_STATUS_ACTIVITY, reachedSql } from '../leads/lead-progress.ts'

/** Each relation may read only relations listed before it. */
export const RELATION_NAMES = [
  'chosen',
  'chosen_count',
  'lead_now',
  'level_now',
  'state',
  'only_state',
  'early',
  'early_once',
  'deleted_then',
  'lead_then',
  'new_lead',
  'level_stored',
  'level',
  'value_unsure',
  'changed',
  'reopened',
  'closed_now',
  'closed_once',
  'closed',
  'win',
  'entered',
  'in_question',
  'entry',
  'ended',
  'open_now',
  'idle',
  'idle_then',
  'stalled_count',
  'reach',
  'span',
  'arrival',
  'arrival_gone',
  'news',
  'news_move',
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

/**
 * The limits of all relations: the filter, and the time up to which data is known. Each method returns a
 * piece of SQL. A stored state of a lead is a row of `lead_history`. A lead that has not changed since it was
 * first read has no stored state; its own row is its only state.
 */
export interface Bounds {
  readonly filter: LeadFilter
  /** True if the figures count only data that was known at `:known_at`. */
  readonly isPast: boolean
  /**
   * The relations that {@link Bounds.inScope} needs. Every relation that uses `inScope` in its SQL must read
   * them.
   */
  readonly chosen: readonly RelationName[]
  /**
   * Returns ` AND …` with the conditions on the pipelines and the chosen leads, or an empty text. The
   * arguments name the columns. The plus sign in the SQL keeps SQLite from looking up each chosen lead where
   * reading in order of time is faster.
   */
  inScope(pipeline?: string, lead?: string): string
  inPipelines(pipeline?: string): string
  /** Returns the condition if only data known at `:known_at` counts; otherwise an empty text. */
  past(condition: string): string
  /**
   * Selects the beginning of one stored state of `lead`. Of the states that meet a condition, it is the first
   * or the last one (`order`).
   */
  version(condition: string, order: 'ASC' | 'DESC'): string
  /**
   * Joins to `lead`, as `state`, its last stored state that began before an instant. Joins its first state if
   * there is no earlier state or no instant.
   */
  joinState(before: string | null): string
  /**
   * Selects columns of the joined state, or of the lead's own row if the lead has not changed since it was
   * first read. The columns are null where no state was known.
   */
  stateOf(columns: string): string
  /** Builds SQL for a value from a lead's stored states, or from its own row where it has no stored state. */
  storedOr(stored: string, own: string): string
  /** Selects the pipeline of `lead` just before an instant, or else its first known pipeline. */
  pipelineAt(instant: string): string
}

export function boundsOf(isPast: boolean, filter: LeadFilter): Bounds {
  const isChosen = filter.conditions.length > 0
  const past = (condition: string): string => (isPast ? ` ${condition}` : '')
  const inPipelines = (pipeline = 'pipeline_id'): string =>
    filter.pipelineIds === null ? '' : ` AND ${pipeline} IN (SELECT value FROM json_each(:pipelines))`
  const version: Bounds['version'] = (condition, order) =>
    `(SELECT valid_from FROM lead_history AS each WHERE each.lead_id = lead.id${condition}${past('AND each.observed_at <= :known_at')}
        ORDER BY valid_from ${order} LIMIT 1)`
  const storedOr: Bounds['storedOr'] = (stored, own) =>
    `CASE WHEN lead.derived_version IS NULL THEN ${stored} ${isPast ? 'WHEN lead.first_seen_at <= :known_at THEN' : 'ELSE'} ${own} END`
  return {
    filter,
    isPast,
    chosen: isChosen ? ['chosen'] : [],
    past,
    inPipelines,
    inScope: (pipeline, lead = 'lead_id') =>
      `${inPipelines(pipeline)}${isChosen ? ` AND +${lead} IN (SELECT ${lead === 'lead.no' ? 'lead_no' : 'lead_id'} FROM chosen)` : ''}`,
    version,
    storedOr,
    pipelineAt: (instant) =>
      storedOr(
        `(SELECT pipeline_id FROM lead_history AS state
      WHERE state.lead_id = lead.id AND state.valid_from = ${lastOrFirst(version, instant)})`,
        'lead.pipeline_id',
      ),
    joinState(before) {
      const began = before === null ? version('', 'ASC') : lastOrFirst(version, before)
      return `LEFT JOIN lead_history AS state
        ON lead.derived_version IS NULL AND state.lead_id = lead.id AND state.valid_from = ${began}`
    },
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

/**
 * Selects the leads whose status has changed, and the time from which all their statuses are known
 * (known_from). The query goes through the statuses, because an index lists the leads of each status by their
 * last change. KNOWN_THEN selects the same columns from the data known at `:known_at`.
 */
export const KNOWN_NOW = `
      SELECT lead_id, pipeline_id, created_at, status_changed_at AS changed_at, known_from
      FROM (SELECT DISTINCT status FROM lead_count) AS each CROSS JOIN lead_known
      WHERE lead_known.status = each.status AND has_moved = 1`

const SETTLED = `strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+60 seconds')`

const ENDS_GAP = `from_status <> status AND (
            before IS DISTINCT FROM from_status AND from_status IS DISTINCT FROM (
              SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1)
            OR activity_from IS NULL AND EXISTS (SELECT 1 FROM activity WHERE first_seen_at <= :known_at AND to_status IS NOT NULL))`

export const KNOWN_THEN = `
      SELECT lead_id, pipeline_id, created_at, changed_at, iif(known_from > ${SETTLED}, known_from, created_at) AS known_from
      FROM (
        SELECT lead_id, pipeline_id, created_at, max(entered_at) AS changed_at, coalesce(
          max(entered_at) FILTER (WHERE ${ENDS_GAP}),
          min(CASE WHEN from_status IS NULL THEN entered_at WHEN before IS NULL THEN created_at END)) AS known_from
        FROM entered GROUP BY lead_id, pipeline_id, created_at) AS each
      WHERE changed_at > ${SETTLED}`

/** The condition that the period ended more than 30 days before the last lead was first read. */
const IS_OLD = `:to < strftime('%Y-%m-%dT%H:%M:%fZ', (SELECT max(first_seen_at) FROM lead), '-30 days')`

/**
 * The SQL for all leads if the period ended long ago, and for no lead otherwise. Because it is a join, SQLite
 * tests the condition only once.
 */
export const LEADS_IF_OLD = `(SELECT 1 AS one WHERE ${IS_OLD}) AS old CROSS JOIN lead`
/** The opposite of {@link LEADS_IF_OLD}: no lead if the period ended long ago, and all leads otherwise. */
export const LEADS_IF_NEW = `(SELECT 1 AS one WHERE NOT ${IS_OLD}) AS old CROSS JOIN lead`
/**
 * Like {@link LEADS_IF_OLD}, but goes through the leads status by status. The caller adds a condition on
 * `status_changed_at`. With this condition, an index finds the few leads whose status has not changed.
 */
export const STAYS_IF_OLD = `(SELECT DISTINCT status AS each_status FROM lead_count WHERE ${IS_OLD}) AS each
      CROSS JOIN lead WHERE lead.status = each_status`

/** The SQL for a time. A lead that last changed at this time or before is stalled. */
export const STALLED_SINCE = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-' || :stalled_days || ' days')`

/** Returns SQL for the first time, at or after `at`, up to which a sync has read all leads. */
export const readAfter = (at: string, past = ''): string =>
  `(SELECT min(leads_as_of) FROM sync_run WHERE leads_as_of >= ${at}${past})`
/** Returns SQL for the last time before `at` up to which a sync has read all leads. */
export const readBefore = (at: string): string =>
  `(SELECT max(leads_as_of) FROM sync_run WHERE leads_as_of < ${at})`

/**
 * Selects the states whose value at an instant is unknown, because the lead changed again before the next
 * sync. Each of the two queries uses an index of its own.
 */
export const unsureStates = (columns: string, at: string, after: string, before: string, and = ''): string =>
  `SELECT ${columns} FROM state WHERE valid_to >= ${at} AND valid_to < ${after} AND valid_from < ${at}${and}
    UNION ALL
    SELECT ${columns} FROM state WHERE valid_from >= ${before} AND valid_from < ${at} AND changed_at >= ${at}
      AND coalesce(valid_to, '~') >= coalesce(${after}, ${at})${and}`

/** Builds the condition of {@link unsureStates} for a lead whose only state is in its own row. */
export const unsureOnlyState = (at: string, before: string): string =>
  `valid_from >= ${before} AND valid_from < ${at} AND +changed_at >= ${at}`

export function idleRelations({ chosen, past }: Bounds, counted: readonly RelationName[]) {
  const known = past('AND each.observed_at <= :known_at')
  const last = (table: string) =>
    `coalesce((SELECT changed_at FROM ${table} AS each WHERE each.lead_id = lead_then.lead_id AND changed_at < :to${known} ORDER BY changed_at DESC LIMIT 1), lead_then.created_at)`
  const next = (table: string) =>
    `coalesce((SELECT changed_at FROM ${table} AS each WHERE each.lead_id = lead_then.lead_id AND changed_at >= :to${known} ORDER BY changed_at LIMIT 1), '~')`
  return {
    idle_then: {
      reads: [...chosen, 'deleted_then', 'lead_then', 'changed'],
      sql: `-- changed leads that were open at the end of the period, and the time of their last change before that end.
    -- is_known tells whether this time is sure: it is too late for the lead to be stalled, or a sync read the lead after
    -- the period and before its next change, or the activity of the lead has its next change and so all earlier ones
    SELECT lead_id, pipeline_id, changed_at, (changed_at > ${STALLED_SINCE} OR next_at = '~'
        OR next_at >= (SELECT min(leads_as_of) FROM sync_run WHERE leads_as_of >= :to${past('AND leads_as_of <= :known_at')})
          AND EXISTS (SELECT 1 FROM lead_version AS each WHERE each.lead_id = stood.lead_id AND changed_at < :to${known})
        OR EXISTS (SELECT 1 FROM activity WHERE activity.lead_id = stood.lead_id AND at = next_at${past('AND first_seen_at <= :known_at')})) IS TRUE AS is_known
    FROM (
      SELECT lead_id, lead_then.pipeline_id, max(${last('lead_version')},
        ${last('lead_minor_update')},
        coalesce((SELECT max(at) FROM activity WHERE activity.lead_id = lead_then.lead_id AND at < :to${past('AND first_seen_at <= :known_at')}), lead_then.created_at)) AS changed_at,
        min(${next('lead_version')},
        ${next('lead_minor_update')}) AS next_at
      FROM lead_then WHERE outcome = 'open' AND lead_id IN (SELECT lead_id FROM changed)) AS stood`,
    },
    stalled_count: {
      reads: [...counted, ...chosen, 'deleted_then', 'lead_then', 'changed', 'open_now', 'idle', 'idle_then'],
      sql: `-- number of leads that were stalled at the end of the period: unchanged leads that are stalled now, and changed ones
    -- that were stalled then
    SELECT pipeline_id, sum(leads) AS leads FROM (
    SELECT pipeline_id, leads FROM open_now
    UNION ALL SELECT pipeline_id, -1 FROM idle WHERE changed_at > ${STALLED_SINCE}
    UNION ALL SELECT pipeline_id, -1 FROM idle WHERE changed_at <= ${STALLED_SINCE} AND lead_id IN (SELECT lead_id FROM changed)
    UNION ALL SELECT pipeline_id, 1 FROM idle_then WHERE changed_at <= ${STALLED_SINCE} AND is_known) AS each
    GROUP BY pipeline_id`,
    },
  } as const satisfies Record<string, Relation>
}

/** Builds the relation of the funnel for the cases in which leadsheet counts the funnel itself. */
export function funnelRelations({ chosen, isPast, inScope, inPipelines }: Bounds) {
  const first = '(SELECT min(position) FROM stage WHERE in_funnel = 1)'
  const byStatus = (and = ''): string =>
    `coalesce((SELECT position FROM stage WHERE stage.status = each.status AND in_funnel = 1${and}), 0)`
  const byMoves = `coalesce((SELECT max(position) FROM stage_move JOIN stage ON in_funnel = 1
          AND (status = to_status AND moved_at < :to OR status = from_status AND coalesce(entered_at, '') < :to)
        WHERE stage_move.lead_id = each.lead_id), 0)`
  const furthest = `-- number of leads by the furthest stage that they had reached by the end of the period; all have reached the first
    -- stage. position is null for leads whose statuses are not all known`
  const hidden = `is_sampled = 1 AND ${HAS_STATUS_ACTIVITY}`
  const reach: Relation = isPast
    ? {
        reads: [...chosen, 'deleted_then', 'lead_now', 'entered'],
        isMaterialized: true,
        sql: `${furthest}
    SELECT iif(lead_id IN (SELECT lead_id FROM (${KNOWN_THEN}) AS lead_known WHERE known_from > created_at${inScope()}),
      NULL, max(${first}, ${byStatus(' AND status_changed_at < :to')}, ${byMoves})) AS position, 1 AS leads
    FROM lead_now AS each WHERE created_at < :to AND lead_id NOT IN (SELECT lead_id FROM deleted_then)`,
      }
    : {
        reads: [...chosen, ...(chosen.length > 0 ? (['chosen_count'] as const) : []), 'deleted_then'],
        isMaterialized: true,
        sql: `${furthest}.
    -- Counts all leads as they are now, takes out those that have changed since, and adds these as they were then
    SELECT position, sum(leads) AS leads FROM (
      SELECT iif(reached < 0 OR ${hidden}, NULL, max(${first}, ${byStatus()}, reached)) AS position, leads
      FROM ${chosen.length > 0 ? 'chosen_count' : 'lead_count'} AS each WHERE true${inPipelines()}
      UNION ALL
      SELECT iif(each.reached < 0 OR ${hidden}, NULL, iif(step.value = 1,
          max(${first}, ${byStatus(' AND status_changed_at < :to')}, ${byMoves}), max(${first}, ${byStatus()}, each.reached))),
        step.value
      FROM (SELECT id AS lead_id, pipeline_id, status, created_at, status_changed_at, deleted_at, is_sampled,
          ${reachedSql()} AS reached
        FROM (
          SELECT no AS moved_no FROM lead WHERE status IN (SELECT status FROM lead_count) AND status_changed_at >= :to
          UNION SELECT no FROM lead WHERE created_at >= strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-60 seconds')
          -- leads by their first move since then: the status before it had begun by then, or its beginning is unknown
          UNION SELECT lead.no FROM stage_move CROSS JOIN lead
            WHERE moved_at >= :to AND (entered_at IS NULL OR entered_at < :to) AND lead.id = lead_id
          UNION SELECT lead.no FROM lead_deletion CROSS JOIN lead
            WHERE (deleted_since >= :to OR returned_at >= :to) AND lead.id = lead_id) AS moved
        CROSS JOIN lead WHERE lead.no = moved_no${inScope('pipeline_id', 'lead.no')}) AS each
      CROSS JOIN (SELECT -1 AS value UNION ALL SELECT 1) AS step
      WHERE CASE step.value WHEN -1 THEN deleted_at IS NULL
        ELSE created_at < :to AND lead_id NOT IN (SELECT lead_id FROM deleted_then) END) AS counted
    GROUP BY position`,
      }
  return {
    reach,
  } as const satisfies Record<string, Relation>
}

/**
 * Builds the relations that serve many spans of time at once. `:spans` is a JSON list of the spans, in order:
 * the beginning, the end, and the time 30 days before the end. The period of the scope has to end when the first span ends.
 */
export function spanRelations({ chosen, inPipelines, pipelineAt }: Bounds) {
  const pipelineThen = pipelineAt('span_to')
  const isIn = `created_at >= span_from AND created_at < span_to${chosen.length > 0 ? ' AND +lead.no IN (SELECT lead_no FROM chosen)' : ''}${inPipelines(pipelineThen)}`
  return {
    span: {
      reads: [],
      isMaterialized: true,
      sql: `-- spans of time, in order
    SELECT key AS place, value ->> 0 AS span_from, value ->> 1 AS span_to, value ->> 2 AS span_recent
    FROM json_each(:spans)`,
    },
    arrival: {
      reads: [...chosen, 'span'],
      sql: `-- leads created in each span
    SELECT place, lead.id AS lead_id, ${pipelineThen} AS pipeline_id FROM span CROSS JOIN lead
    WHERE ${isIn}`,
    },
    arrival_gone: {
      reads: [...chosen, 'span'],
      isMaterialized: true,
      sql: `-- leads created in each span that were deleted at the end of the span
    SELECT place FROM lead_deletion CROSS JOIN lead CROSS JOIN span
    WHERE lead.id = lead_id AND lead.created_at >= (SELECT min(span_from) FROM span) AND ${isIn}
      AND deleted_since < span_to AND (returned_at IS NULL OR returned_at >= span_to)`,
    },
  } as const satisfies Record<string, Relation>
}
