/** Computes the figures of a stored issue again and compares them with the stored figures. */

import type { BlockName } from '../../domain/choices.ts'
import type { ReportFigures } from '../../domain/figures.ts'
import { LISTED_FIELDS } from '../../domain/lead-fields.ts'
import { daysUpTo, periodsUpTo } from '../../domain/period.ts'
import { BLOCK_QUERIES } from '../../report/blocks/registry.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { countLeadsKnownLater } from '../../store/figures/freshness-figures.ts'
import type { ReportRequest } from '../../store/figures/report-figures.ts'
import { readReportFigures } from '../../store/figures/report-figures.ts'
import type { Issue } from '../../store/reports/issue.ts'
import { findLastSent, reportedUpTo } from '../../store/reports/issue.ts'
import { LIST_ROWS_MAX } from './report-definition.ts'

export interface IssueComparison {
  /** The figures that differ; empty if all are equal. */
  readonly differences: readonly FigureDifference[]
  /**
   * The number of leads that changed before the end of the issue's period but were read only after the issue
   * was made.
   */
  readonly leadsKnownLater: number
}

/**
 * Compares the figures of a stored issue with the same figures computed now.
 * @param isAsKnown whether to use only the data that had been read when the issue was made; if so, no figure
 *   should differ
 */
export async function compareIssue(
  store: Pick<Store, 'db'>,
  issue: Issue,
  isAsKnown: boolean,
): Promise<IssueComparison> {
  const { figures: kept, renderedAt } = issue
  const request = await findRequest(store.db, issue)
  const now = await readReportFigures(store.db, { ...request, asKnownAt: isAsKnown ? renderedAt : null })
  return {
    differences: compareFigures(kept, now),
    leadsKnownLater: isAsKnown ? 0 : await countLeadsKnownLater(store.db, kept.period.to, renderedAt),
  }
}

/** Returns the request with which the figures of a stored issue were computed. */
export async function findRequest(db: Db, issue: Issue): Promise<ReportRequest> {
  const { report, variant, renderedAt } = issue
  const { kind, period, prior, filter, stalled, topLeads, trend } = issue.figures
  const last = await findLastSent(db, { report, variant, kind }, period.to, renderedAt)
  return {
    ...{ kind, period, prior, filter, stalledDays: stalled.days, topScore: topLeads.minScore },
    rowsMax: rowsKept(issue.figures),
    since: last && reportedUpTo(last),
    sparkPeriods: periodsUpTo(kind, period),
    trendDays: daysUpTo(period.to, trend.length, period.timeZone),
    blockQueries: BLOCK_QUERIES,
    asKnownAt: null,
  }
}

/**
 * Returns the maximum number of rows in the lists of a stored issue. If a list was cut, its length is the
 * maximum. Otherwise the general maximum is returned.
 */
function rowsKept({ topLeads, stalled, changes }: ReportFigures): number {
  const cut = [topLeads, stalled, ...changes.kinds].find(({ total, rows }) => total > rows.length)
  return cut?.rows.length ?? LIST_ROWS_MAX
}

export interface FigureDifference {
  /**
   * The path of the figure, such as `new_leads.current`, `won_value.prior.USD` or `stalled.rows.lead-17`.
   */
  readonly figure: string
  /** The value in the stored issue; null if the issue did not have the figure. */
  readonly kept: string | number | null
  readonly now: string | number | null
}

/**
 * The figures that are compared. If a figure could not be read, the block named here is marked as failed.
 * `headline` stands for the main figures, without which there is no report. All other figures (agents,
 * freshness, the upstream's own numbers) describe the time at which they were read, so they are not compared.
 */
const COMPARED = {
  leads: 'headline',
  newLeads: 'headline',
  won: 'headline',
  lost: 'headline',
  wonValue: 'headline',
  winRate: 'headline',
  openValue: 'headline',
  sparklines: 'kpis',
  trend: 'trend',
  changes: 'changes',
  topLeads: 'top_leads',
  stalled: 'stalled',
  byPipeline: 'pipelines',
  bySource: 'sources',
} as const satisfies Partial<Record<keyof ReportFigures, BlockName>>

/**
 * The fields that identify an entry of a list. Two entries are matched by the first of these fields that they
 * have.
 */
const KEYS = ['id', 'day', 'kind', 'source', 'currency']

/**
 * The fields that are not compared, because they describe a lead or pipeline at the time of reading and not
 * in the period. The status is one of these fields, because it may have been unknown when the issue was made.
 * The coverage (how many leads have a known history) also counts leads that moved after the period.
 */
const DESCRIPTIONS = new Set<string>([
  ...LISTED_FIELDS,
  ...['companyName', 'pipelineName', 'name', 'status', 'changedAt', 'coverage'],
])

type ComparedFigures = Pick<ReportFigures, keyof typeof COMPARED | 'failed'>
type Fields = Readonly<Record<string, unknown>>

/**
 * Compares two sets of figures. A figure that could not be read in one of the sets is skipped.
 * @returns the differences; empty if all figures are equal
 */
export function compareFigures(kept: ComparedFigures, now: ComparedFigures): FigureDifference[] {
  const failed = new Set([...kept.failed, ...now.failed].map(({ block }) => block))
  const names = Object.keys(COMPARED) as (keyof typeof COMPARED)[]
  return names
    .filter((name) => !failed.has(COMPARED[name]))
    .flatMap((name) => compareValues(snakeCase(name), kept[name], now[name]))
}

function compareValues(figure: string, kept: unknown, now: unknown): FigureDifference[] {
  const [before, after] = [fieldsOf(kept), fieldsOf(now)]
  if (before === null || after === null) {
    return kept === now ? [] : [{ figure, kept: shown(kept), now: shown(now) }]
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => compareValues(`${figure}.${name}`, before[name], after[name]))
}

/**
 * Returns the parts of a value that are compared one by one: the fields of an object, or the entries of a
 * list by their keys. Returns null if the value has no parts.
 */
function fieldsOf(value: unknown): Fields | null {
  if (Array.isArray(value))
    return Object.fromEntries(value.map((each, index) => [keyOf(each) ?? index, each]))
  if (!isObject(value)) return null
  const compared = Object.entries(value).filter(([name]) => !DESCRIPTIONS.has(name))
  return Object.fromEntries(compared.map(([name, field]) => [snakeCase(name), field]))
}

function keyOf(entry: unknown): string | null {
  if (!isObject(entry)) return null
  const key = KEYS.find((name) => name in entry)
  return key === undefined ? null : String(entry[key])
}

/**
 * Returns the value to show for a difference. A list entry that only the stored issue or only the new figures
 * contain is shown by its amount, name or total.
 */
function shown(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (!isObject(value)) return null
  const { amount, companyName, name, total } = value
  return shown(amount ?? companyName ?? name ?? total)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** Converts `newLeads` to `new_leads`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
