/** The leads that a report lists: best new, longest stalled, and changed since the last issue. */
import { LEAD_FIELDS, LISTED_FIELDS } from '../../domain/lead-fields.ts'
import type { ChangedLead, ChangeKind, Changes, ListedLead, Stalled, TopLeads } from '../../domain/lists.ts'
import type { Instant, Money } from '../../domain/model.ts'
import { readCoverage } from './coverage.ts'
import { toCents } from './definition.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, readFigureAt, readRows } from './query.ts'
import { fillTempTables } from './temp-tables.ts'

const DAY_MS = 24 * 60 * 60_000

/** If the first known state began later, the last move before the end counts, or the present status. */
const STATUS_THEN = `coalesce(lead_then.status, (SELECT to_status FROM stage_move AS each
      WHERE each.lead_id = lead.id AND moved_at < :to ORDER BY moved_at DESC LIMIT 1), lead.status)`

/** The SQL for the fields that lists show with their present values. */
export const AS_NOW = LEAD_FIELDS.filter(({ name }) => LISTED_FIELDS.some((listed) => listed === name))
  .map(({ name, column }) => `lead.${column} AS "${name}"`)
  .join(', ')

/** The SQL for the name of a lead in lists. The mapping stores no name in which nothing can be seen. */
export const LEAD_NAME = 'coalesce(company_name, company_domain, lead.id)'

const LISTED = `lead.id, ${LEAD_NAME} AS "companyName", ${AS_NOW}, pipeline.id AS "pipelineId",
    pipeline.name AS "pipelineName", ${STATUS_THEN} AS status, lead_then.score, lead_then.value_amount AS amount,
    lead_then.value_currency AS currency, lead.created_at AS "createdAt"`

/** The leads created in the period with a score of at least top_score, best first. */
const TOP_LEADS = {
  reads: ['lead_then'],
  sql: `SELECT ${LISTED}, lead.updated_at AS "changedAt", total
  FROM (
    SELECT lead_id, count(*) OVER () AS total FROM lead_then
    WHERE created_at >= :from AND created_at < :to AND score >= :top_score
    ORDER BY score DESC, created_at, lead_id LIMIT :rows) AS best
  CROSS JOIN lead_then CROSS JOIN lead CROSS JOIN pipeline
  WHERE lead_then.lead_id = best.lead_id AND lead.id = best.lead_id AND pipeline.id = lead_then.pipeline_id
  ORDER BY lead_then.score DESC, lead_then.created_at, lead.id`,
} as const

const lastBefore = (table: string, at: string): string =>
  `coalesce((SELECT max(${at}) FROM ${table} AS each WHERE each.lead_id = state.lead_id AND ${at} < :to), '')`

/** The leads counted by the figure stalled, longest stalled first. */
const STALLED_LEADS = {
  reads: ['lead_then', 'longest_open'],
  sql: `SELECT ${LISTED}, longest.changed_at AS "changedAt", longest.candidates, longest.last_candidate_at AS "lastCandidateAt"
  FROM (
    SELECT lead_id, max(changed_at, ${lastBefore('lead_minor_update', 'changed_at')}, ${lastBefore('activity', 'at')}) AS changed_at,
      count(*) OVER () AS candidates, max(changed_at) OVER () AS last_candidate_at
    -- a few leads in order of their last state; an update or an activity may have been later
    FROM longest_open AS state
    ORDER BY 2, lead_id LIMIT :rows) AS longest
  CROSS JOIN lead_then CROSS JOIN lead CROSS JOIN pipeline
  WHERE lead_then.lead_id = longest.lead_id AND lead.id = longest.lead_id AND pipeline.id = lead_then.pipeline_id
  ORDER BY longest.changed_at, lead.id`,
} as const

export type ListedRow = Omit<ListedLead, 'value'> & {
  readonly amount: number | null
  readonly currency: string | null
}

export async function readTopLeads(
  trx: ReadTrx,
  scope: FigureScope,
  minScore: number,
  rowsMax: number,
): Promise<TopLeads> {
  const values = { top_score: minScore, rows: rowsMax }
  const rows = await readRows<ListedRow & { total: number }>(trx, TOP_LEADS, scope, values)
  return { minScore, total: rows[0]?.total ?? 0, rows: rows.map(({ total: _, ...row }) => listedLeadOf(row)) }
}

export async function readStalled(trx: ReadTrx, scope: FigureScope, rowsMax: number): Promise<Stalled> {
  const [figure] = await readFigureAt(trx, 'stalled', scope)
  const rows = await readLongestStalled(trx, scope, rowsMax)
  return {
    days: scope.stalledDays,
    coverage: await readCoverage(trx, 'stalled', scope),
    total: figure?.value ?? 0,
    rows: rows.map(listedLeadOf).map((lead) => ({
      ...lead,
      idleDays: Math.floor((Date.parse(scope.to) - Date.parse(lead.changedAt)) / DAY_MS),
    })),
  }
}

interface StalledRow extends ListedRow {
  readonly candidates: number
  readonly lastCandidateAt: Instant
}

/**
 * Lists the leads that have been stalled for longest. Their last updates have no order in the database, so candidates
 * are added until no other lead can have waited longer.
 */
async function readLongestStalled(trx: ReadTrx, scope: FigureScope, rowsMax: number): Promise<ListedRow[]> {
  for (let candidates = 2 * rowsMax; ; candidates *= 8) {
    const rows = await readRows<StalledRow>(trx, STALLED_LEADS, scope, { rows: rowsMax, candidates })
    const last = rows.at(-1)
    const isProven =
      last === undefined || last.candidates < candidates || last.changedAt < last.lastCandidateAt
    if (isProven) return rows.map(({ candidates: _, lastCandidateAt: __, ...row }) => row)
  }
}

export function listedLeadOf({ amount, currency, ...lead }: ListedRow): ListedLead {
  return { ...lead, value: amount !== null && currency !== null ? { amount, currency } : null }
}

/** The kinds of changes. Each lead is counted once, by its status at the end of the period. */
const KINDS: readonly ChangeKind[] = ['won', 'forward', 'back', 'lost', 'deleted', 'returned']

/** The number of changed leads by kind, and their value by currency. */
const CHANGE_COUNTS = {
  reads: ['change'],
  sql: `SELECT kind, value_currency AS currency, count(*) AS total, ${toCents('sum(value_amount)')} AS amount
  FROM change GROUP BY kind, value_currency ORDER BY kind, count(value_amount) DESC, value_currency NULLS FIRST`,
} as const

/** The SQL for the currency of a change with a value. */
const IN_CURRENCY = 'iif(value_amount IS NULL, NULL, value_currency)'

/** The changed leads. In each kind, leads with a value come first, ordered by currency (the most common first) and by value. */
const CHANGED_LEADS = {
  reads: ['change'],
  sql: `SELECT kind, lead_id AS id, ${LEAD_NAME} AS "companyName", pipeline.name AS "pipelineName",
    iif(kind IN ('deleted', 'returned'), NULL, from_status) AS "fromStatus", to_status AS "toStatus", at, change.value_amount AS amount,
    change.value_currency AS currency
  FROM (${KINDS.map(
    (kind) => `
    SELECT * FROM (SELECT change.*, alike.in_currency, alike.leads FROM change
      JOIN (SELECT ${IN_CURRENCY} AS in_currency, count(*) AS leads FROM change WHERE kind = '${kind}' GROUP BY 1) AS alike
        ON alike.in_currency IS NOT DISTINCT FROM ${IN_CURRENCY}
      WHERE kind = '${kind}'
      ORDER BY in_currency IS NULL, leads DESC, in_currency, value_amount DESC NULLS LAST, at DESC, lead_id LIMIT :rows) AS most`,
  ).join(' UNION ALL')}) AS change
  CROSS JOIN lead JOIN pipeline ON pipeline.id = change.pipeline_id WHERE lead.id = lead_id
  ORDER BY kind, in_currency IS NULL, leads DESC, in_currency, change.value_amount DESC NULLS LAST, at DESC, lead_id`,
} as const

/** The end of the period of the last enqueued issue, and the time at which its figures were read. */
export interface LastReported {
  readonly at: Instant
  readonly knownAt: Instant
}

interface Count {
  readonly kind: ChangeKind
  readonly currency: string | null
  readonly total: number
  readonly amount: number | null
}

interface Row extends Omit<ChangedLead, 'value'> {
  readonly kind: ChangeKind
  readonly amount: number | null
  readonly currency: string | null
}

/** `since` is the last enqueued issue, or null before the first. */
export async function readChanges(
  trx: ReadTrx,
  scope: FigureScope,
  since: LastReported | null,
  rowsMax: number,
): Promise<Changes> {
  const values = changeValues(scope, since)
  const once = await fillTempTables(trx, scope, ['change'], values)
  const counts = await readRows<Count>(once, CHANGE_COUNTS, scope)
  const rows = await readRows<Row>(once, CHANGED_LEADS, scope, { rows: rowsMax })
  return {
    since: values.since,
    coverage: await readCoverage(trx, 'period', { ...scope, from: values.since }),
    kinds: KINDS.map((kind) => {
      const counted = counts.filter((count) => count.kind === kind)
      return {
        kind,
        total: counted.reduce((sum, { total }) => sum + total, 0),
        value: counted.flatMap(moneyOf),
        rows: rows.filter((row) => row.kind === kind).map(changedLeadOf),
      }
    }),
  }
}

/** The beginning of the changes, and the time at which the last issue's figures were read. */
function changeValues({ from }: FigureScope, since: LastReported | null) {
  return { since: since !== null && since.at < from ? since.at : from, reported_at: since?.knownAt ?? null }
}

function moneyOf({ amount, currency }: Pick<Row, 'amount' | 'currency'>): Money[] {
  return amount === null || currency === null ? [] : [{ amount, currency }]
}

function changedLeadOf({ kind: _, amount, currency, ...lead }: Row): ChangedLead {
  return { ...lead, value: moneyOf({ amount, currency })[0] ?? null }
}
