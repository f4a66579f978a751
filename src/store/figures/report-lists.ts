/** The leads that a report lists: the best new leads and those that have stalled longest. */

import { LEAD_FIELDS, LISTED_FIELDS } from '../../domain/lead-fields.ts'
import type { ListedLead, Stalled, TopLeads } from '../../domain/lists.ts'
import { readCoverage } from './coverage.ts'
import { type FigureScope, readFigureAt, readRows } from './query.ts'
import type { Moment } from './read-transaction.ts'
import { OPEN_STATUSES } from './relation.ts'
import { STALLED_SINCE } from './relation-parts.ts'

const DAY_MS = 24 * 60 * 60_000

/**
 * The SQL for a lead's status at the end of the period. Where the lead's first known state is later than
 * that, the status comes from the moves in the lead's activity, or else is the present status.
 */
const STATUS_THEN = `coalesce(lead_then.status, (SELECT to_status FROM stage_move AS each
      WHERE each.lead_id = lead.id AND moved_at < :to AND (:known_at IS NULL OR observed_at <= :known_at)
      ORDER BY moved_at DESC LIMIT 1), lead.status)`

/** The SQL for the fields that lists show with their present values. */
export const AS_NOW = LEAD_FIELDS.filter(({ name }) => LISTED_FIELDS.some((listed) => listed === name))
  .map(({ name, column }) => `lead.${column} AS "${name}"`)
  .join(', ')

const LISTED = `lead.id, coalesce(company_name, lead.id) AS "companyName", ${AS_NOW}, pipeline.id AS "pipelineId",
    pipeline.name AS "pipelineName", ${STATUS_THEN} AS status, lead_then.score, lead_then.value_amount AS amount,
    lead_then.value_currency AS currency, lead.created_at AS "createdAt"`

export const TOP_LEADS = {
  title: 'Top leads',
  meaning: 'leads created in the period with a score of at least top_score, best first',
  reads: ['lead_then'],
  sql: `SELECT ${LISTED}, lead.updated_at AS "changedAt", count(*) OVER () AS total
  FROM lead_then JOIN lead ON lead.id = lead_id JOIN pipeline ON pipeline.id = lead_then.pipeline_id
  WHERE lead_then.created_at >= :from AND lead_then.created_at < :to AND lead_then.score >= :top_score
  ORDER BY lead_then.score DESC, lead_then.created_at, lead.id LIMIT :rows`,
} as const

export const STALLED_LEADS = {
  title: 'Stalled leads',
  meaning: 'the leads counted by the figure stalled, longest stalled first',
  reads: ['lead_then', 'changed', 'idle', 'idle_then'],
  sql: `SELECT ${LISTED}, longest.changed_at AS "changedAt"
  FROM (
    -- the first of each status, so that an index leads to them
    SELECT idle.* FROM (SELECT DISTINCT status, coalesce((SELECT changed_at FROM idle AS rows
        WHERE rows.status = open.status AND changed_at <= ${STALLED_SINCE}
          AND lead_id NOT IN (SELECT lead_id FROM changed) ORDER BY changed_at LIMIT 1 OFFSET :rows), ${STALLED_SINCE}) AS last_at
      FROM ${OPEN_STATUSES} AS open) AS first
    CROSS JOIN idle WHERE idle.status = first.status AND changed_at <= last_at
      AND lead_id NOT IN (SELECT lead_id FROM changed)
    UNION ALL SELECT lead_id, NULL, pipeline_id, changed_at FROM idle_then WHERE changed_at <= ${STALLED_SINCE} AND is_known
    ORDER BY changed_at, pipeline_id, lead_id LIMIT :rows) AS longest
  JOIN lead_then USING (lead_id) JOIN lead ON lead.id = lead_id JOIN pipeline ON pipeline.id = lead_then.pipeline_id
  ORDER BY longest.changed_at, longest.pipeline_id, lead.id`,
} as const

/** The row of a listed lead, with its value as two columns. */
export type ListedRow = Omit<ListedLead, 'value'> & {
  readonly amount: number | null
  readonly currency: string | null
}

export async function readTopLeads(
  moment: Moment,
  scope: FigureScope,
  minScore: number,
  rowsMax: number,
): Promise<TopLeads> {
  const values = { top_score: minScore, rows: rowsMax }
  const rows = await readRows<ListedRow & { total: number }>(moment, TOP_LEADS, scope, values)
  return { minScore, total: rows[0]?.total ?? 0, rows: rows.map(({ total: _, ...row }) => listedLeadOf(row)) }
}

export async function readStalled(moment: Moment, scope: FigureScope, rowsMax: number): Promise<Stalled> {
  const [figure] = await readFigureAt(moment, 'stalled', scope)
  const rows = await readRows<ListedRow>(moment, STALLED_LEADS, scope, { rows: rowsMax })
  return {
    days: scope.stalledDays,
    coverage: await readCoverage(moment, 'stalled', scope),
    total: figure?.value ?? 0,
    rows: rows.map(listedLeadOf).map((lead) => ({
      ...lead,
      idleDays: Math.floor((Date.parse(scope.to) - Date.parse(lead.changedAt)) / DAY_MS),
    })),
  }
}

export function listedLeadOf({ amount, currency, ...lead }: ListedRow): ListedLead {
  return { ...lead, value: amount !== null && currency !== null ? { amount, currency } : null }
}
