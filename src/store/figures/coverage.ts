/**
 * Coverage: how many of the leads behind a figure have a known history. A figure that needs more than the
 * present state of leads may lack what happened before the first sync. The view `lead_known` gives the time
 * from which each lead's history is known.
 */
import type { HistoryCoverage } from '../../domain/model.ts'
import type { CoverageName } from './definition.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type Query, readRows } from './query.ts'

/**
 * The SQL for the number of leads whose status at the end of the period is unknown. A lead that has not moved
 * since the end of the period is never counted.
 */
const UNKNOWN_AT_END = '(SELECT count(*) FROM in_question WHERE changed_at >= :to AND known_from >= :to)'

export const COVERAGES: Readonly<
  Record<CoverageName, Query & { readonly title: string; readonly meaning: string }>
> = {
  period: {
    title: 'Coverage',
    meaning:
      'leads whose statuses in the period are all known (lead_known.known_from), out of the leads that may have moved in it',
    reads: ['in_question'],
    sql: `SELECT count(*) FILTER (WHERE known_from <= max(:from, created_at)) AS known, count(*) AS "of" FROM in_question`,
  },
  end: {
    title: 'Coverage',
    meaning: 'leads whose status at the end of the period is known, out of all leads that existed then',
    reads: ['level', 'in_question'],
    sql: `SELECT leads - ${UNKNOWN_AT_END} AS known, leads AS "of"
  FROM (SELECT coalesce(sum(leads), 0) AS leads FROM level) AS counted`,
  },
  cohort: {
    title: 'Coverage',
    meaning: 'leads whose status at the end of the period is known, out of the leads created in it',
    reads: ['new_lead', 'in_question'],
    sql: `SELECT leads - (SELECT count(*) FROM in_question
      WHERE created_at >= :from AND changed_at >= :to AND known_from >= :to) AS known, leads AS "of"
  FROM (SELECT count(*) AS leads FROM new_lead) AS counted`,
  },
  life: {
    title: 'Coverage',
    meaning:
      'leads whose statuses up to the end of the period are all known, out of all leads that existed then',
    reads: ['reach'],
    sql: `SELECT coalesce(sum(leads) FILTER (WHERE position IS NOT NULL), 0) AS known, coalesce(sum(leads), 0) AS "of"
  FROM reach`,
  },
  value: {
    title: 'Coverage',
    meaning:
      'leads whose value at the end of the period is known (read after their last change before it, with no other change before the next sync), out of the leads that were open then',
    reads: ['level', 'value_unsure'],
    sql: `SELECT leads - (SELECT count(*) FROM value_unsure WHERE outcome = 'open') AS known, leads AS "of"
  FROM (SELECT coalesce(sum(leads), 0) AS leads FROM level WHERE outcome = 'open') AS counted`,
  },
  won_value: {
    title: 'Coverage',
    meaning: 'leads whose value at the end of the period is known, out of the leads counted as won',
    reads: ['closed', 'value_unsure'],
    sql: `SELECT count(*) FILTER (WHERE lead_id NOT IN (SELECT lead_id FROM value_unsure)) AS known, count(*) AS "of"
  FROM closed WHERE outcome = 'won' AND closed_at >= :from`,
  },
  stalled: {
    title: 'Coverage',
    meaning:
      'leads for which it is known whether they were stalled, out of the leads that were open at the end of the period',
    reads: ['level', 'idle_then'],
    sql: `SELECT leads - (SELECT count(*) FROM idle_then WHERE NOT is_known) AS known, leads AS "of"
  FROM (SELECT coalesce(sum(leads), 0) AS leads FROM level WHERE outcome = 'open') AS counted`,
  },
}

export async function readCoverage(
  trx: ReadTrx,
  name: CoverageName,
  scope: FigureScope,
): Promise<HistoryCoverage> {
  const [row] = await readRows<HistoryCoverage>(trx, COVERAGES[name], scope)
  return { known: row?.known ?? 0, of: row?.of ?? 0 }
}
