/**
 * Coverage: how many of a figure's leads have a known history, which may lack what preceded the first sync.
 */
import type { HistoryCoverage } from '../../domain/model.ts'
import { isTraced } from '../leads/reached.ts'
import type { CoverageName } from './definition.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type Query, readRows } from './query.ts'
import { STALLED_SINCE } from './relation.ts'

/** The SQL for the open leads that were read as they were at the end of the period. */
const KNOWN_OPEN = `SELECT coalesce(sum(leads) FILTER (WHERE is_known = 1), 0) AS known, coalesce(sum(leads), 0) AS "of"
  FROM level WHERE outcome = 'open'`

export const COVERAGES: Readonly<Record<CoverageName, Query & { readonly meaning: string }>> = {
  period: {
    meaning: 'leads whose statuses in the period are all known, out of the leads that existed in it',
    reads: ['level_before', 'new_lead', 'unknown_entry'],
    // Leads that were deleted in the period are among the unknown ones, but not among the new ones.
    sql: `SELECT max(0, leads - unknown) AS known, leads AS "of" FROM (
    SELECT coalesce(sum(leads), 0) + (SELECT count(*) FROM new_lead) AS leads,
      coalesce(sum(leads) FILTER (WHERE is_unknown), 0) + (SELECT coalesce(sum(entered), 0) FROM unknown_entry) AS unknown
    FROM level_before) AS counted`,
  },
  end: {
    meaning: 'leads whose status at the end of the period is known, out of all leads that existed then',
    reads: ['level'],
    sql: `SELECT coalesce(sum(leads) FILTER (WHERE status <> '' OR reached <> -1), 0) AS known, coalesce(sum(leads), 0) AS "of" FROM level`,
  },
  cohort: {
    meaning: 'leads whose status at the end of the period is known, out of the leads created in it',
    reads: ['new_lead'],
    sql: `SELECT count(*) FILTER (WHERE known_since < :to OR ${isTraced('new_lead.lead_id', 'new_lead.created_at')}) AS known, count(*) AS "of"
  FROM new_lead`,
  },
  life: {
    meaning:
      'leads whose statuses up to the end of the period are all known, out of all leads that existed then',
    reads: ['level'],
    sql: `SELECT coalesce(sum(leads) FILTER (WHERE reached >= 0), 0) AS known, coalesce(sum(leads), 0) AS "of" FROM level`,
  },
  value: {
    meaning:
      'leads whose value at the end of the period is known (first read before another update), out of the leads that were open then',
    reads: ['level'],
    sql: KNOWN_OPEN,
  },
  won_value: {
    meaning: 'leads whose value at the end of the period is known, out of the leads counted as won',
    reads: ['closed', 'lead_then'],
    sql: `SELECT count(*) FILTER (WHERE is_known) AS known, count(*) AS "of"
  FROM closed CROSS JOIN lead_then
  WHERE lead_then.lead_id = closed.lead_id AND closed.outcome = 'won' AND closed_at >= :from`,
  },
  stalled: {
    meaning:
      'leads for which it is known whether they were stalled, out of the leads that were open at the end of the period',
    reads: ['level', 'lead_then'],
    // A lead that was created in the days before cannot have stalled.
    sql: `SELECT known + (SELECT count(*) FROM lead_then
      WHERE created_at > ${STALLED_SINCE} AND created_at < :to AND outcome = 'open' AND NOT is_known) AS known, "of" FROM (${KNOWN_OPEN}) AS counted`,
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
