/**
 * Lists the open leads on which a person should act today, each with the first of its reasons: its expected
 * close has passed, it is about to stall, it came back after it was lost, or it has a high score and nobody
 * has contacted it. The list shows present data, because people should act on it.
 */
import type { Today, TodayReason } from '../../domain/insight.ts'
import type { Instant } from '../../domain/model.ts'
import { localDate, UTC_MIDNIGHT } from '../../domain/period.ts'
import { toCents } from '../figures/definition.ts'
import type { FigureScope, ReadTrx } from '../figures/query.ts'
import { readRows } from '../figures/query.ts'
import { OPEN_STATUSES } from '../figures/relation.ts'
import { AS_NOW, LEAD_NAME, type ListedRow, listedLeadOf } from '../figures/report-lists.ts'
import { fillTempTables } from '../figures/temp-tables.ts'
import type { StallThreshold } from './stall-threshold.ts'

const DAY_MS = 86_400_000
/** If the limit is shorter than this, a lead is listed only after it, because nobody can act that fast. */
const LIMIT_MIN_DAYS = 2.5
/** In the last fifth of the limit, a lead is already about to stall. */
const SOON_SHARE = 0.2
/** A lead that came back is listed for this many days, or for the period of the report if that is longer. */
const RETURNED_DAYS = 7
/** A lead that nobody contacted is listed while it is new. */
const UNCONTACTED_DAYS = 14

interface TodayOptions {
  readonly thresholds: ReadonlyMap<string, StallThreshold>
  /**
   * A lead is listed at most this number of days before it exceeds the threshold of its stage, and at most a
   * fifth of the threshold before.
   */
  readonly horizonDays: number
  /** The score from which on a new lead should be contacted. */
  readonly topScore: number
  readonly rowsMax: number
}

/** @returns the first `rowsMax` leads, the most valuable first, and the number and value of all */
export async function readTodayLeads(
  trx: ReadTrx,
  scope: FigureScope,
  { thresholds, horizonDays, topScore, rowsMax }: TodayOptions,
): Promise<Today> {
  const endMs = Date.parse(scope.to)
  const before = (days: number) => new Date(endMs - days * DAY_MS).toISOString()
  const ofWinners = (status: string) => thresholds.get(status)?.days ?? null
  const limitOf = (status: string) => {
    const days = ofWinners(status) ?? scope.stalledDays
    const soon = days < LIMIT_MIN_DAYS ? 0 : Math.min(horizonDays, days * SOON_SHARE)
    return [status, before(Math.max(days, scope.stalledDays)), before(days - soon), days]
  }
  const open = await readRows<{ status: string }>(trx, OPEN, scope)
  const weekAgo = before(RETURNED_DAYS)
  const filled = await fillTempTables(trx, scope, ['due_today'], {
    limits: JSON.stringify(open.map(({ status }) => limitOf(status))),
    today: `${localDate(scope.to, scope.timeZone ?? 'UTC')}${UTC_MIDNIGHT}`,
    returned_since: scope.from < weekAgo ? scope.from : weekAgo,
    created_since: before(UNCONTACTED_DAYS),
    uncontacted: JSON.stringify(uncontactedOf(await readRows(trx, FUNNEL, scope))),
    top_score: topScore,
  })
  const counts = await readRows<Count>(filled, COUNTS, scope)
  const rows = await readRows<Row>(filled, LEADS, scope, { rows: rowsMax })
  return {
    total: sumOf(counts),
    value: groupsOf(counts, 'currency').flatMap(([currency, parts]) => {
      const cents = parts.reduce((sum, { amount }) => sum + Math.round((amount ?? 0) * 100), 0)
      return currency === null ? [] : [{ amount: cents / 100, currency }]
    }),
    byOwner: groupsOf(counts, 'owner').map(([owner, parts]) => ({ owner, leads: sumOf(parts) })),
    rows: rows.map((row) => {
      const { reason: _, at: __, days: ___, ...lead } = row
      return { lead: listedLeadOf(lead), why: whyOf(row, endMs, ofWinners(row.status) !== null) }
    }),
  }
}

interface Count {
  readonly owner: string | null
  /** Null for leads without a value. */
  readonly currency: string | null
  readonly leads: number
  readonly amount: number | null
}

function sumOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { leads }) => sum + leads, 0)
}

/** The group with the most leads comes first. */
function groupsOf(counts: readonly Count[], by: 'currency' | 'owner') {
  const groups = [...Map.groupBy(counts, (count) => count[by])]
  return groups.sort(([, one], [, other]) => sumOf(other) - sumOf(one))
}

type Row = ListedRow & { readonly at: Instant } & (
    | { readonly reason: 'overdue'; readonly days: null }
    | { readonly reason: 'stalling'; readonly days: number }
    | { readonly reason: 'returned'; readonly days: number | null }
    | { readonly reason: 'uncontacted'; readonly days: null; readonly score: number }
  )

function whyOf(row: Row, endMs: number, isOfWinners: boolean): TodayReason {
  const { at } = row
  switch (row.reason) {
    case 'overdue':
      return { kind: 'overdue', expectedCloseAt: at }
    case 'stalling': {
      const stageDays = Math.floor((endMs - Date.parse(at)) / DAY_MS)
      return { kind: 'stalling', stageDays, limitDays: row.days, isOfWinners }
    }
    case 'returned':
      return { kind: 'returned', at, days: row.days === null ? null : Math.floor(row.days) }
    case 'uncontacted':
      return { kind: 'uncontacted', score: row.score, since: at }
  }
}

/**
 * Returns the stages in which nobody has contacted a lead: those before the first stage with a name such as
 * `contacted`, or only the first stage of the funnel.
 */
function uncontactedOf(funnel: readonly { readonly status: string }[]): string[] {
  const contacted = funnel.findIndex(({ status }, index) => index > 0 && /[ck]onta[ck]t/i.test(status))
  return funnel.slice(0, Math.max(1, contacted)).map(({ status }) => status)
}

const OPEN = { reads: [], sql: `SELECT DISTINCT status FROM ${OPEN_STATUSES} AS open` } as const

const FUNNEL = {
  reads: [],
  sql: `SELECT status FROM stage WHERE in_funnel = 1 AND outcome = 'open' ORDER BY position`,
} as const

/** Null for a lead without a value. */
const CURRENCY = 'iif(value_amount IS NULL, NULL, value_currency)'

const COUNTS = {
  reads: ['due_today'],
  sql: `SELECT owner, ${CURRENCY} AS currency, count(*) AS leads,
    ${toCents('sum(value_amount)')} AS amount
  FROM due_today GROUP BY 1, 2
  ORDER BY count(*) DESC, owner NULLS LAST, currency NULLS LAST`,
} as const

const LEADS = {
  reads: ['due_today'],
  sql: `SELECT lead.id, ${LEAD_NAME} AS "companyName", ${AS_NOW}, pipeline.id AS "pipelineId",
    pipeline.name AS "pipelineName", lead.status, lead.score, lead.value_amount AS amount,
    lead.value_currency AS currency, lead.created_at AS "createdAt", lead.updated_at AS "changedAt", reason, at, days
  FROM (
    SELECT *, row_number() OVER (ORDER BY in_currency IS NULL, alike DESC, in_currency, value_amount DESC NULLS LAST, place, at, lead_id) AS rank
    FROM (SELECT *, ${CURRENCY} AS in_currency, count(*) OVER (PARTITION BY ${CURRENCY}) AS alike FROM due_today) AS due) AS due
  CROSS JOIN lead CROSS JOIN pipeline
  WHERE rank <= :rows AND lead.id = lead_id AND pipeline.id = lead.pipeline_id ORDER BY rank`,
} as const
