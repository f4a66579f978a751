/**
 * The definition of every figure: its name, meaning, unit, and SQL over the relations (named subqueries) of
 * `relation.ts`. Reports, commands and docs/reference/figures.md read the definitions from here. `series.ts`,
 * `breakdown.ts` and `funnel.ts` count the same figures for many spans or groups at once; tests compare them.
 *
 * A figure counts the leads as they were at the end of the period. Two things are taken from later: filters and
 * sources are those of now, and a lead that was first read later lends its first known value (see `coverage.ts`).
 *
 * Each row of a figure has a `value`. A row of a share also has its `part` and `whole`. In a figure with
 * several rows, `of` names the currency or status of the row.
 */

import { RECENT } from './relation.ts'
import type { RelationName } from './relation-bounds.ts'

/** `money` is in whole units of the currency in `of`. A `share` is from 0 to 1. */
export type FigureUnit = 'leads' | 'share' | 'money' | 'money a day' | 'days'

/** The kind of history that a figure depends on. See `coverage.ts`. */
export type CoverageName = 'period' | 'end' | 'cohort' | 'life' | 'stalled' | 'value' | 'won_value'

export interface FigureDefinition {
  readonly name: string
  readonly title: string
  readonly meaning: string
  readonly unit: FigureUnit
  readonly reads: readonly RelationName[]
  readonly sql: string
  /** The leads whose needed history is known; null for a figure that needs only present states. */
  readonly coverage: CoverageName | null
}

/** Selects the middle row or rows by `place`. The mean of their values is the median. */
const MIDDLE = 'place IN ((rows + 1) / 2, (rows + 2) / 2)'

/**
 * The inner rounding removes the error of binary fractions, so that half a cent rounds up. Never gives -0.
 */
export const toCents = (amount: string): string => `round(round(${amount}, 4), 2) + 0`

const closedAs = (outcome: string): string =>
  `SELECT count(*) AS value FROM closed WHERE outcome = '${outcome}' AND closed_at >= :from`

const share = `coalesce(part, 0) AS part, whole, CAST(coalesce(part, 0) AS double precision) / nullif(whole, 0) AS value`

export const FIGURES = [
  {
    name: 'leads',
    title: 'Leads',
    meaning: 'leads that existed at the end of the period, in any status',
    unit: 'leads',
    coverage: null,
    reads: ['level'],
    sql: 'SELECT coalesce(sum(leads), 0) AS value FROM level',
  },
  {
    name: 'new_leads',
    title: 'New leads',
    meaning: 'leads created in the period',
    unit: 'leads',
    coverage: null,
    reads: ['new_lead'],
    sql: 'SELECT count(*) AS value FROM new_lead',
  },
  {
    name: 'qualified',
    title: 'Qualified',
    meaning:
      'leads that entered a qualified stage (stage.is_qualified) in the period, as far as is known for the first time; a lead first seen in such a stage counts only if it was created in the period; empty if the profile marks no stage as qualified',
    unit: 'leads',
    coverage: 'period',
    reads: ['entry', 'ended'],
    sql: `SELECT iif((SELECT max(is_qualified) FROM stage) = 1, count(DISTINCT lead_id), NULL) AS value
    FROM entry WHERE NOT EXISTS (
      SELECT 1 FROM ended AS before JOIN stage USING (status)
      WHERE before.lead_id = entry.lead_id AND stage.is_qualified = 1
        AND coalesce(before.entered_at, '') < entry.entered_at)`,
  },
  {
    name: 'won',
    title: 'Won',
    meaning: 'leads that were won in the period and were still won at its end',
    unit: 'leads',
    coverage: 'end',
    reads: ['closed'],
    sql: closedAs('won'),
  },
  {
    name: 'lost',
    title: 'Lost',
    meaning: 'leads that were lost in the period and were still lost at its end',
    unit: 'leads',
    coverage: 'end',
    reads: ['closed'],
    sql: closedAs('lost'),
  },
  {
    name: 'disqualified',
    title: 'Disqualified',
    meaning: 'leads that were disqualified in the period and were still disqualified at its end',
    unit: 'leads',
    coverage: 'end',
    reads: ['closed'],
    sql: closedAs('disqualified'),
  },
  {
    name: 'won_value',
    title: 'Won value',
    meaning:
      'value of the leads counted as won, as it was at the end of the period; leads without a value are left out',
    unit: 'money',
    coverage: 'won_value',
    reads: ['closed', 'lead_then'],
    sql: `SELECT value_currency AS "of", ${toCents('sum(value_amount)')} AS value
    FROM closed CROSS JOIN lead_then
    WHERE lead_then.lead_id = closed.lead_id AND closed.outcome = 'won' AND closed_at >= :from AND value_amount IS NOT NULL AND value_currency IS NOT NULL
    GROUP BY value_currency ORDER BY count(*) DESC, value_currency`,
  },
  {
    name: 'win_rate',
    title: 'Win rate',
    meaning:
      'won / (won + lost), over the leads won or lost in the 30 days up to the end of the period; disqualified leads do not count',
    unit: 'share',
    coverage: 'end',
    reads: ['closed'],
    sql: `SELECT ${share} FROM (
      SELECT count(*) FILTER (WHERE outcome = 'won') AS part, count(*) AS whole FROM closed
      WHERE outcome IN ('won', 'lost') AND closed_at >= ${RECENT}) AS counted`,
  },
  {
    name: 'period_conversion',
    title: 'Conversion by period',
    meaning:
      'leads won in the period / leads created in it; not necessarily the same leads, so it may be above 1',
    unit: 'share',
    coverage: 'end',
    reads: ['closed', 'new_lead'],
    sql: `SELECT ${share} FROM (
      SELECT (SELECT count(*) FROM closed WHERE outcome = 'won' AND closed_at >= :from) AS part,
        (SELECT count(*) FROM new_lead) AS whole) AS counted`,
  },
  {
    name: 'cohort_conversion',
    title: 'Conversion by cohort',
    meaning:
      'share of the leads created in the period that were won by its end; choose periods longer than leads take to be won',
    unit: 'share',
    coverage: 'cohort',
    reads: ['new_lead', 'closed'],
    sql: `SELECT ${share} FROM (
      SELECT count(*) FILTER (WHERE lead_id IN (SELECT lead_id FROM closed WHERE outcome = 'won')) AS part, count(*) AS whole
      FROM new_lead) AS counted`,
  },
  {
    name: 'open',
    title: 'Open',
    meaning:
      'leads that were not won, lost or disqualified at the end of the period; a status missing in the table stage counts as open',
    unit: 'leads',
    coverage: 'end',
    reads: ['level'],
    sql: `SELECT coalesce(sum(leads), 0) AS value FROM level WHERE outcome = 'open'`,
  },
  {
    name: 'open_value',
    title: 'Open pipeline',
    meaning:
      'value of the leads counted as open, as it was at the end of the period; for a lead that was first read later, its first known value',
    unit: 'money',
    coverage: 'value',
    reads: ['level'],
    sql: `SELECT value_currency AS "of", ${toCents('sum(value_amount)')} AS value FROM level
    WHERE outcome = 'open' AND value_currency <> ''
    GROUP BY value_currency HAVING sum(leads) > 0 ORDER BY sum(leads) DESC, value_currency`,
  },
  {
    name: 'stalled',
    title: 'Stalled',
    meaning:
      'leads that were open at the end of the period and had not changed in any way for `stalled_days` days (a setting of the report); a lead is left out if it was first read after a later change, because its last change in the period is unknown',
    unit: 'leads',
    coverage: 'stalled',
    reads: ['stalled_count'],
    sql: 'SELECT coalesce(sum(leads), 0) AS value FROM stalled_count',
  },
  {
    name: 'time_in_stage',
    title: 'Days in stage',
    meaning:
      'median days that leads spent in a status, over the stays that ended in the period; stays whose beginning is unknown are left out',
    unit: 'days',
    coverage: 'period',
    reads: ['ended'],
    sql: `SELECT status AS "of", round(avg(days), 2) AS value FROM (
      SELECT status, days, row_number() OVER (PARTITION BY status ORDER BY days) AS place,
        count(*) OVER (PARTITION BY status) AS rows
      FROM ended WHERE left_at >= :from AND days IS NOT NULL) AS stay
    LEFT JOIN stage USING (status) WHERE ${MIDDLE} GROUP BY status, position ORDER BY position NULLS FIRST, status`,
  },
  {
    name: 'velocity',
    title: 'Sales velocity',
    meaning:
      'money that the pipeline earns per day: open leads with a value x win rate x mean value won / median days from creation to winning; win rate, mean and median are those of the 30 days up to the end of the period; empty if nothing was won in those 30 days',
    unit: 'money a day',
    coverage: 'end',
    reads: ['level', 'closed', 'win'],
    sql: `SELECT value_currency AS "of", ${toCents('open.leads * rate * mean / cycle')} AS value
    FROM (SELECT value_currency, sum(leads) AS leads FROM level
      WHERE outcome = 'open' AND value_currency <> '' GROUP BY value_currency HAVING sum(leads) > 0) AS open
    JOIN (SELECT value_currency, avg(value_amount) AS mean FROM win
      WHERE value_amount IS NOT NULL GROUP BY value_currency) AS won USING (value_currency)
    CROSS JOIN (SELECT CAST(count(*) FILTER (WHERE outcome = 'won') AS double precision) / nullif(count(*), 0) AS rate FROM closed
      WHERE outcome IN ('won', 'lost') AND closed_at >= ${RECENT}) AS share
    CROSS JOIN (SELECT avg(days) AS cycle FROM (
      SELECT days, row_number() OVER (ORDER BY days) AS place, count(*) OVER () AS rows FROM win) AS won WHERE ${MIDDLE}) AS speed
    WHERE cycle > 0 ORDER BY open.leads DESC, value_currency`,
  },
] as const satisfies readonly FigureDefinition[]

export type FigureName = (typeof FIGURES)[number]['name']
