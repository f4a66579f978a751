/** What bounds relations: the filter, and what was known when. All are texts of SQL, to be put into theirs. */
import type { LeadFilter } from '../../domain/figures.ts'
import type { RelationName } from './relation-name.ts'

export interface Bounds {
  readonly filter: LeadFilter
  /** Whether only what was known at `:known_at` counts. */
  readonly isPast: boolean
  /** What a relation reads whose rows are bound by {@link Bounds.inScope}. */
  readonly chosen: readonly RelationName[]
  /**
   * ` AND …`, or nothing: of the pipelines and the chosen leads, by the columns that say which. The plus keeps SQLite
   * from looking up each chosen lead, which it always takes for few, where it could go by time.
   */
  inScope(pipeline?: string, lead?: string): string
  inPipelines(pipeline?: string): string
  /** The condition, where only what was known counts. */
  past(condition: string): string
  /** The rowid of the first or the last state of `lead` that meets a condition. */
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
