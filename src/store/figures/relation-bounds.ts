/** The names of the relations (named subqueries from which figures are counted), and the pieces of SQL that limit them. */
import type { LeadFilter } from '../../domain/figures.ts'

/** Each relation may read only relations listed before it. */
export const RELATION_NAMES = [
  'chosen',
  'day_count',
  'deleted_then',
  'lead_then',
  'new_lead',
  'level',
  'level_before',
  'unknown_entry',
  'closed',
  'win',
  'entry',
  'ended',
  'open_then',
  'touched',
  'longest_open',
  'stalled_count',
  'span',
  'arrival',
  'arrival_gone',
  'due_today',
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
   * Selects a column of one stored state of `lead`. Of the states that meet a condition, it is the first or the
   * last one (`order`).
   */
  version(column: string, condition: string, order: 'ASC' | 'DESC'): string
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
  const version: Bounds['version'] = (column, condition, order) =>
    `(SELECT ${column} FROM lead_history AS each WHERE each.lead_id = lead.id${condition} ORDER BY valid_from ${order} LIMIT 1)`
  const storedOr: Bounds['storedOr'] = (stored, own) =>
    `coalesce(${stored}, CASE WHEN lead.derived_version IS NOT NULL THEN ${own} END)`
  return {
    chosen: isChosen ? ['chosen'] : [],
    inPipelines,
    inScope: (pipeline, lead = 'lead_id') =>
      `${inPipelines(pipeline)}${isChosen ? ` AND +${lead} IN (SELECT ${lead === 'lead.no' ? 'lead_no' : 'lead_id'} FROM chosen)` : ''}`,
    version,
    storedOr,
    joinState: (before) => `LEFT JOIN lead_history AS state
        ON state.lead_id = lead.id AND state.valid_from = ${lastOrFirst(version, before)}`,
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

/** Selects a column without nulls of the last state that began before an instant, or else of the first state. */
export const lastOrFirst = (version: Bounds['version'], before: string, column = 'valid_from'): string =>
  `coalesce(
      ${version(column, ` AND valid_from < ${before}`, 'DESC')},
      ${version(column, '', 'ASC')})`
