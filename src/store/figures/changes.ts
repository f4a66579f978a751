/**
 * The changes of leads since the last issue. Each lead is counted once, by its status at the end of the
 * period.
 */
import type { ChangedLead, ChangeKind, Changes } from '../../domain/lists.ts'
import type { Instant, Money } from '../../domain/model.ts'
import { readCoverage } from './coverage.ts'
import { toCents } from './definition.ts'
import { giveRelations } from './given-relations.ts'
import { type FigureScope, readRows } from './query.ts'
import type { Moment } from './read-transaction.ts'

const KINDS: readonly ChangeKind[] = ['won', 'forward', 'back', 'lost', 'gone', 'returned']

const MEANING =
  'leads whose status at the end of the period differs from the one in the last issue, by kind of change: won; lost or disqualified; forward or back in the funnel; deleted or returned'

export const CHANGE_COUNTS = {
  title: 'Changes',
  meaning: `${MEANING}; their number, and their value by currency`,
  reads: ['change'],
  sql: `SELECT kind, value_currency AS currency, count(*) AS total, ${toCents('sum(value_amount)')} AS amount
  FROM change GROUP BY kind, value_currency ORDER BY kind, count(value_amount) DESC, value_currency NULLS FIRST`,
} as const

export const CHANGED_LEADS = {
  title: 'Changed leads',
  meaning: `${MEANING}; in each kind, leads with a value come first, ordered by currency (the most common first) and by value`,
  reads: ['change'],
  sql: `SELECT kind, lead_id AS id, coalesce(company_name, lead_id) AS "companyName", pipeline.name AS "pipelineName",
    iif(kind IN ('gone', 'returned'), NULL, from_status) AS "fromStatus", to_status AS "toStatus", at, change.value_amount AS amount,
    change.value_currency AS currency
  FROM (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY in_currency IS NULL, alike DESC, in_currency,
      value_amount DESC NULLS LAST, at DESC, lead_id) AS place
    FROM (SELECT *, count(*) OVER (PARTITION BY kind, in_currency) AS alike
      FROM (SELECT *, iif(value_amount IS NULL, NULL, value_currency) AS in_currency FROM change) AS change) AS change) AS change
  JOIN lead ON lead.id = lead_id JOIN pipeline ON pipeline.id = change.pipeline_id
  WHERE place <= :rows ORDER BY kind, place`,
} as const

/** The end of the last issue that was sent, and the time at which its figures were read. */
export interface LastTold {
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

/**
 * Reads the changes of leads since the last issue.
 * @param told the last issue that was sent; null before the first issue
 */
export async function readChanges(
  moment: Moment,
  scope: FigureScope,
  told: LastTold | null,
  rowsMax: number,
): Promise<Changes> {
  const values = changeValues(scope, told)
  const once = await giveRelations(moment, scope, ['change'], values)
  const counts = await readRows<Count>(once, CHANGE_COUNTS, scope)
  const rows = await readRows<Row>(once, CHANGED_LEADS, scope, { rows: rowsMax })
  return {
    since: values.since,
    coverage: await readCoverage(moment, 'period', { ...scope, from: values.since }),
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

/**
 * Returns the values that the queries of changes need beside the scope: the beginning of the changes, and the
 * time up to which the last issue knew the leads.
 */
export function changeValues({ from }: FigureScope, told: LastTold | null) {
  return { since: told !== null && told.at < from ? told.at : from, told_at: told?.knownAt ?? null }
}

function moneyOf({ amount, currency }: Pick<Row, 'amount' | 'currency'>): Money[] {
  return amount === null || currency === null ? [] : [{ amount, currency }]
}

function changedLeadOf({ kind: _, amount, currency, ...lead }: Row): ChangedLead {
  return { ...lead, value: moneyOf({ amount, currency })[0] ?? null }
}
