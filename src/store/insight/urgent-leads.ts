/**
 * Lists urgent leads. An urgent lead is an open lead that has been in its stage longer than nearly all won
 * leads were, or that will soon exceed that time. Leads that are listed as stalled are left out. The list
 * shows present data, because people should act on it.
 */
import type { ListedLead } from '../../domain/lists.ts'
import type { ReadTrx } from '../figures/query.ts'
import { type FigureScope, readRows } from '../figures/query.ts'
import { OPEN_STATUSES } from '../figures/relation.ts'
import { AS_NOW, type ListedRow, listedLeadOf } from '../figures/report-lists.ts'
import type { StallThreshold } from './stall-threshold.ts'

const DAY_MS = 86_400_000
/** If the limit is shorter than this, a lead is listed only after it, because nobody can act that fast. */
const LIMIT_MIN_DAYS = 2.5
/** In the last fifth of the limit, a lead is already urgent. */
const SOON_SHARE = 0.2

interface Row extends ListedRow {
  readonly total: number
  readonly since: string
  readonly limitDays: number
}

/**
 * Reads the open leads that will soon exceed the threshold of their stage, or have exceeded the threshold but
 * have not been in the stage for `stalledDays` days. The most valuable lead comes first.
 * @param horizonDays a lead is listed at most this number of days before it exceeds the threshold, and at
 * most a fifth of the threshold before
 * @returns the first `rowsMax` leads, and the number of all such leads
 */
export async function readUrgentLeads(
  trx: ReadTrx,
  scope: FigureScope,
  thresholds: ReadonlyMap<string, StallThreshold>,
  horizonDays: number,
  rowsMax: number,
): Promise<{
  total: number
  rows: (ListedLead & { stageDays: number; limitDays: number; isOfWinners: boolean })[]
}> {
  const endMs = Date.parse(scope.to)
  const limitOf = (status: string, days: number) => {
    const before = (ago: number) => new Date(endMs - ago * DAY_MS).toISOString()
    const soon = days < LIMIT_MIN_DAYS ? 0 : Math.min(horizonDays, days * SOON_SHARE)
    return [status, before(Math.max(days, scope.stalledDays)), before(days - soon), days]
  }
  const limits = [...thresholds].flatMap(([status, { days }]) =>
    days === null ? [] : [limitOf(status, days)],
  )
  const statuses = await readRows<{ status: string }>(trx, OPEN, scope)
  const others = statuses.filter(({ status }) => (thresholds.get(status)?.days ?? null) === null)
  const set = others.map(({ status }) => limitOf(status, scope.stalledDays))
  const rows = await readRows<Row>(trx, URGENT_LEADS, scope, {
    limits: JSON.stringify([...limits, ...set]),
    rows: rowsMax,
  })
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.map(({ total: _, since, ...row }) => ({
      ...listedLeadOf(row),
      limitDays: row.limitDays,
      stageDays: Math.floor((endMs - Date.parse(since)) / DAY_MS),
      isOfWinners: (thresholds.get(row.status)?.days ?? null) !== null,
    })),
  }
}

const OPEN = { reads: [], sql: `SELECT DISTINCT status FROM ${OPEN_STATUSES} AS open` } as const

const URGENT_LEADS = {
  reads: ['present_lead'],
  sql: `SELECT lead.id, coalesce(company_name, lead.id) AS "companyName", ${AS_NOW}, pipeline.id AS "pipelineId",
    pipeline.name AS "pipelineName", lead.status, lead.score, lead.value_amount AS amount,
    lead.value_currency AS currency, lead.created_at AS "createdAt", lead.updated_at AS "changedAt",
    lead.status_changed_at AS since, stage_limit.days AS "limitDays", count(*) OVER () AS total
  FROM (SELECT value ->> 0 AS status, value ->> 1 AS entered_after, value ->> 2 AS entered_by,
      CAST(value ->> 3 AS double precision) AS days FROM json_each(:limits)) AS stage_limit
  CROSS JOIN present_lead JOIN lead ON lead.id = present_lead.lead_id JOIN pipeline ON pipeline.id = lead.pipeline_id
  WHERE present_lead.status = stage_limit.status AND present_lead.status_changed_at > entered_after
    AND present_lead.status_changed_at <= entered_by AND lead.deleted_at IS NULL
  ORDER BY lead.value_amount IS NULL, lead.value_currency, lead.value_amount DESC, lead.status_changed_at, lead.id
  LIMIT :rows`,
} as const
