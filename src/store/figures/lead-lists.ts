/** The leads that the daily report names: the best new ones, and those that have stood still longest. */
import type { DailyFigures, StalledLead, TopLead } from '../../model.ts'
import type { Db } from '../open.ts'
import { type FigureScope, readFigure, runQuery, valuesOf, withRelations } from './query.ts'
import { OPEN_STATUSES, STALLED_SINCE } from './relation.ts'

const DAY_MS = 24 * 60 * 60_000
const ROWS_MAX = 5

export const TOP_LEADS = {
  reads: ['lead_then'],
  sql: `SELECT lead.id, coalesce(company_name, lead.id) AS "companyName", company_one_liner AS "companyOneLiner",
    company_country AS "companyCountry", contact_name AS "contactName", contact_title AS "contactTitle",
    pipeline.name AS "pipelineName", coalesce(lead_then.status, lead.status) AS status, lead_then.score, source,
    count(*) OVER () AS total
  FROM lead_then JOIN lead ON lead.id = lead_id JOIN pipeline ON pipeline.id = lead_then.pipeline_id
  WHERE lead_then.created_at >= :from AND lead_then.created_at < :to AND lead_then.score >= :top_score
  ORDER BY lead_then.score DESC, lead_then.created_at, lead.id LIMIT ${ROWS_MAX}`,
} as const

export const STALLED = {
  reads: ['idle', 'idle_then'],
  sql: `SELECT lead.id, coalesce(company_name, lead.id) AS "companyName", contact_name AS "contactName",
    pipeline.name AS "pipelineName", coalesce(lead_then.status, lead.status) AS status,
    longest.changed_at AS "updatedAt", lead_then.value_amount AS amount, lead_then.value_currency AS currency
  FROM (
    -- the first of each status, so that an index leads to them
    SELECT idle.* FROM (SELECT DISTINCT status FROM ${OPEN_STATUSES}) AS each JOIN idle ON idle.lead_id IN (
      SELECT lead_id FROM idle AS rows WHERE rows.status = each.status AND changed_at <= ${STALLED_SINCE}
        AND lead_id NOT IN changed ORDER BY changed_at, pipeline_id, lead_id LIMIT ${ROWS_MAX})
    UNION ALL SELECT lead_id, NULL, pipeline_id, changed_at FROM idle_then WHERE changed_at <= ${STALLED_SINCE}
    ORDER BY changed_at, pipeline_id, lead_id LIMIT ${ROWS_MAX}) AS longest
  JOIN lead_then USING (lead_id) JOIN lead ON lead.id = lead_id JOIN pipeline ON pipeline.id = lead_then.pipeline_id
  ORDER BY longest.changed_at, longest.pipeline_id, lead.id`,
} as const

export async function readTopLeads(
  db: Db,
  scope: FigureScope,
  minScore: number,
): Promise<DailyFigures['topLeads']> {
  const values = { ...valuesOf(scope), top_score: minScore }
  const rows = await runQuery<TopLead & { total: number }>(db, withRelations(TOP_LEADS, scope), values)
  return { minScore, total: rows[0]?.total ?? 0, rows: rows.map(({ total: _, ...lead }) => lead) }
}

type StalledRow = Omit<StalledLead, 'idleDays' | 'value'> & {
  readonly amount: number | null
  readonly currency: string | null
}

export async function readStalled(db: Db, scope: FigureScope): Promise<DailyFigures['stalled']> {
  const [figure] = await readFigure(db, 'stalled', scope)
  const rows = await runQuery<StalledRow>(db, withRelations(STALLED, scope), valuesOf(scope))
  const stalled = rows.map(
    ({ amount, currency, ...lead }): StalledLead => ({
      ...lead,
      idleDays: Math.floor((Date.parse(scope.to) - Date.parse(lead.updatedAt)) / DAY_MS),
      value: amount !== null && currency !== null ? { amount, currency } : null,
    }),
  )
  return { days: scope.stalledDays, total: figure?.value ?? 0, rows: stalled }
}
