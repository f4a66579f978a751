/**
 * The names of the relations that figures are counted from, their limits, and the relations that need most
 * SQL.
 */
import type { LeadFilter } from '../../domain/figures.ts'

/** Each relation may read only relations listed before it. */
export const RELATION_NAMES = [
  'chosen',
  'chosen_count',
  'lead_now',
  'level_now',
  'state',
  'early',
  'early_once',
  'deleted_then',
  'lead_then',
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
  'reach',
  'span',
  'arrival',
  'news',
  'news_move',
  'standing',
  'change',
] as const
export type RelationName = (typeof RELATION_NAMES)[number]

export interface Relation {
  readonly reads: readonly RelationName[]
  /**
   * Computes the relation first. Otherwise SQLite would look up a row for each candidate before it filters
   * them.
   */
  readonly isMaterialized?: true
  /** The SQL opens with a comment on what the relation holds. That comment names no parameter. */
  readonly sql: string
}

/**
 * The limits of all relations: the filter, and the time up to which data is known. Each method returns a
 * piece of SQL.
 */
export interface Bounds {
  readonly filter: LeadFilter
  /** Tells whether only what was known at `:known_at` counts. */
  readonly isPast: boolean
  /** The relations that any relation limited by {@link Bounds.inScope} has to read. */
  readonly chosen: readonly RelationName[]
  /**
   * Returns ` AND …` with the conditions on the pipelines and the chosen leads, or an empty text. The
   * arguments name the columns. The plus keeps SQLite from looking up each chosen lead when going by time
   * would be faster.
   */
  inScope(pipeline?: string, lead?: string): string
  inPipelines(pipeline?: string): string
  /** Returns the condition where only what was known at `:known_at` counts, else an empty text. */
  past(condition: string): string
  /** Selects the rowid of the first or the last state of `lead` that meets a condition. */
  version(condition: string, order: 'ASC' | 'DESC'): string
}

export function boundsOf(isPast: boolean, filter: LeadFilter): Bounds {
  const isChosen = filter.conditions.length > 0
  const past = (condition: string): string => (isPast ? ` ${condition}` : '')
  const inPipelines = (pipeline = 'pipeline_id'): string =>
    filter.pipelineIds === null ? '' : ` AND ${pipeline} IN (SELECT value FROM json_each(:pipelines))`
  return {
    filter,
    isPast,
    chosen: isChosen ? ['chosen'] : [],
    past,
    inPipelines,
    inScope: (pipeline, lead = 'lead_id') =>
      `${inPipelines(pipeline)}${isChosen ? ` AND +${lead} IN (SELECT lead_id FROM chosen)` : ''}`,
    version: (
      condition,
      order,
    ) => `(SELECT rowid FROM lead_version AS each WHERE each.lead_id = lead.id${condition}${past('AND each.observed_at <= :known_at')}
        ORDER BY valid_from ${order} LIMIT 1)`,
  }
}

/**
 * Selects the leads that have moved, and the time from which each of their statuses is known without a gap
 * (known_from). Goes by status, because an index lists the leads of each status by their last change.
 * KNOWN_THEN selects the same columns by what was known at `:known_at`.
 */
export const KNOWN_NOW = `
      SELECT lead_id, pipeline_id, created_at, status_changed_at AS changed_at, known_from
      FROM (SELECT DISTINCT status FROM lead_count) AS each CROSS JOIN lead_known
      WHERE lead_known.status = each.status AND has_moved = 1`

const SETTLED = `strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+60 seconds')`

const ENDS_GAP = `from_status <> status AND (
            before IS DISTINCT FROM from_status AND from_status IS DISTINCT FROM (
              SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1)
            OR told_from IS NULL AND EXISTS (SELECT 1 FROM activity WHERE first_seen_at <= :known_at AND to_status IS NOT NULL))`

export const KNOWN_THEN = `
      SELECT lead_id, pipeline_id, created_at, changed_at, iif(known_from > ${SETTLED}, known_from, created_at) AS known_from
      FROM (
        SELECT lead_id, pipeline_id, created_at, max(entered_at) AS changed_at, coalesce(
          max(entered_at) FILTER (WHERE ${ENDS_GAP}),
          min(CASE WHEN from_status IS NULL THEN entered_at WHEN before IS NULL THEN created_at END)) AS known_from
        FROM entered GROUP BY lead_id, pipeline_id, created_at) AS each
      WHERE changed_at > ${SETTLED}`

/** The latest time of the last change of a stalled lead. */
export const STALLED_SINCE = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-' || :stalled_days || ' days')`

export function idleRelations({ chosen, past }: Bounds) {
  const known = past('AND each.observed_at <= :known_at')
  const last = (table: string) =>
    `coalesce((SELECT max(changed_at) FROM ${table} AS each WHERE each.lead_id = lead_then.lead_id AND changed_at < :to${known}), lead_then.created_at)`
  const next = (table: string) =>
    `coalesce((SELECT min(changed_at) FROM ${table} AS each WHERE each.lead_id = lead_then.lead_id AND changed_at >= :to${known}), '~')`
  return {
    idle_then: {
      reads: [...chosen, 'deleted_then', 'lead_then', 'changed'],
      sql: `-- of the changed leads those that were open at the end of the period, and when they had last changed in any way.
    -- That is known (is_known) of one that changed too late to stand still, that a sync read after the period and
    -- before its next change, or whose activity has that change and so all before it
    SELECT lead_id, pipeline_id, changed_at, (changed_at > ${STALLED_SINCE} OR next_at = '~'
        OR next_at >= (SELECT min(leads_as_of) FROM sync_run WHERE leads_as_of >= :to${past('AND leads_as_of <= :known_at')})
          AND EXISTS (SELECT 1 FROM lead_version AS each WHERE each.lead_id = stood.lead_id AND changed_at < :to${known})
        OR EXISTS (SELECT 1 FROM activity WHERE activity.lead_id = stood.lead_id AND at = next_at${past('AND first_seen_at <= :known_at')})) IS TRUE AS is_known
    FROM (
      SELECT lead_id, lead_then.pipeline_id, max(${last('lead_version')},
        ${last('lead_touch')},
        coalesce((SELECT max(at) FROM activity WHERE activity.lead_id = lead_then.lead_id AND at < :to${past('AND first_seen_at <= :known_at')}), lead_then.created_at)) AS changed_at,
        min(${next('lead_version')},
        ${next('lead_touch')}) AS next_at
      FROM lead_then WHERE outcome = 'open' AND lead_id IN (SELECT lead_id FROM changed)) AS stood`,
    },
  } as const satisfies Record<string, Relation>
}

/** Builds the relation of the funnel that we count ourselves. */
export function funnelRelations({ chosen, isPast }: Bounds) {
  return {
    reach: {
      reads: [...chosen, 'deleted_then', 'lead_now', ...(isPast ? (['entered'] as const) : [])],
      isMaterialized: true,
      sql: `-- how far each lead whose whole history is known had come by the end of the period; all have come to the first stage
    SELECT max((SELECT min(position) FROM stage WHERE in_funnel = 1),
      coalesce((SELECT position FROM stage WHERE stage.status = lead_now.status AND in_funnel = 1 AND status_changed_at < :to), 0),
      coalesce((SELECT max(position) FROM stage_move JOIN stage ON in_funnel = 1
          AND (status = to_status AND moved_at < :to OR status = from_status AND coalesce(entered_at, '') < :to)
        WHERE stage_move.lead_id = lead_now.lead_id), 0)) AS position
    FROM lead_now WHERE created_at < :to AND lead_id NOT IN (SELECT lead_id FROM deleted_then)
      AND lead_id NOT IN (
        SELECT lead_id FROM (${isPast ? KNOWN_THEN : KNOWN_NOW}) AS lead_known WHERE known_from > created_at)`,
    },
  } as const satisfies Record<string, Relation>
}

/**
 * Builds the relations of many spans of time at once. `:spans` is a JSON list of their beginnings and ends,
 * in order. The period of the scope has to end with the first span.
 */
export function spanRelations({ chosen, inPipelines, version }: Bounds) {
  const pipelineThen = `(SELECT pipeline_id FROM lead_version AS state WHERE state.rowid = coalesce(
      ${version(' AND valid_from < span_to', 'DESC')},
      ${version('', 'ASC')}))`
  return {
    span: {
      reads: [],
      isMaterialized: true,
      sql: `-- spans of time, in order
    SELECT key AS place, value ->> 0 AS span_from, value ->> 1 AS span_to FROM json_each(:spans)`,
    },
    arrival: {
      reads: [...chosen, 'span'],
      sql: `-- leads created in each span
    SELECT place, lead.id AS lead_id, ${pipelineThen} AS pipeline_id FROM span CROSS JOIN lead
    WHERE created_at >= span_from AND created_at < span_to${chosen.length > 0 ? ' AND +lead.id IN (SELECT lead_id FROM chosen)' : ''}${inPipelines(pipelineThen)}`,
    },
  } as const satisfies Record<string, Relation>
}
