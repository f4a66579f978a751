/** The figures of a kept issue asked for again, and why they may not be what they were. */

import type { ReportFigures } from '../../domain/figures.ts'
import { LISTED_FIELDS } from '../../domain/lead-fields.ts'
import { daysUpTo, periodsUpTo } from '../../domain/period.ts'
import { BLOCK_QUERIES, type BlockName } from '../../report/blocks/registry.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { countLeadsKnownLater } from '../../store/figures/freshness-figures.ts'
import type { ReportRequest } from '../../store/figures/report-figures.ts'
import { readReportFigures } from '../../store/figures/report-figures.ts'
import type { Issue } from '../../store/reports/issue.ts'
import { findLastSent, toldUpTo } from '../../store/reports/issue.ts'
import { LIST_ROWS_MAX } from './report-definition.ts'

export interface IssueComparison {
  /** Empty where all are equal. */
  readonly differences: readonly FigureDifference[]
  /** Leads of which something of that time was read only after the issue was made. */
  readonly leadsKnownLater: number
}

/** @param isAsKnown whether only what was known when the issue was made counts, by which nothing differs */
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

/** What the figures of a kept issue were asked for with. */
export async function findRequest(db: Db, issue: Issue): Promise<ReportRequest> {
  const { report, variant, renderedAt } = issue
  const { kind, period, prior, filter, stalled, topLeads, trend } = issue.figures
  const last = await findLastSent(db, { report, variant, kind }, period.to, renderedAt)
  return {
    ...{ kind, period, prior, filter, stalledDays: stalled.days, topScore: topLeads.minScore },
    rowsMax: rowsKept(issue.figures),
    since: last && toldUpTo(last),
    sparkPeriods: periodsUpTo(kind, period),
    trendDays: daysUpTo(period.to, trend.length, period.timeZone),
    blockQueries: BLOCK_QUERIES,
    asKnownAt: null,
  }
}

/** A list that was cut tells how many rows were kept. */
function rowsKept({ topLeads, stalled, changes }: ReportFigures): number {
  const cut = [topLeads, stalled, ...changes.kinds].find(({ total, rows }) => total > rows.length)
  return cut?.rows.length ?? LIST_ROWS_MAX
}

/*
 * The figures of a kept issue beside the same ones asked for again. Compared is what a period tells; not what only
 * tells how things stood when it was asked (agents, freshness, the service's own numbers), nor what leads are called.
 */

export interface FigureDifference {
  /** Such as `new_leads.current`, `won_value.prior.USD` or `stalled.rows.lead-17`. */
  readonly figure: string
  /** Null where there was none. */
  readonly kept: string | number | null
  readonly now: string | number | null
}

/** What is compared, and the block that says so where it could not be read; the headline's never fails alone. */
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

/** Entries of two lists are the same where the first of these that they have is. */
const KEYS = ['id', 'day', 'kind', 'source', 'currency']

/** Of a lead or a pipeline as it is now, whatever the period; so is a status of which none was known then. */
const DESCRIPTIONS = new Set<string>([
  ...LISTED_FIELDS,
  ...['companyName', 'pipelineName', 'name', 'status', 'changedAt'],
])

type ComparedFigures = Pick<ReportFigures, keyof typeof COMPARED | 'failed'>
type Fields = Readonly<Record<string, unknown>>

/** Empty where all are equal. What could not be read on one side is not compared. */
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

/** What is compared one by one: the fields of an object, or the entries of a list by their key; null of anything else. */
function fieldsOf(value: unknown): Fields | null {
  if (Array.isArray(value))
    return Object.fromEntries(value.map((each, index) => [keyOf(each) ?? index, each]))
  if (!isObject(value)) return null
  const told = Object.entries(value).filter(([name]) => !DESCRIPTIONS.has(name))
  return Object.fromEntries(told.map(([name, field]) => [snakeCase(name), field]))
}

function keyOf(entry: unknown): string | null {
  if (!isObject(entry)) return null
  const key = KEYS.find((name) => name in entry)
  return key === undefined ? null : String(entry[key])
}

/** A whole entry that only one side has is told by its amount or its name. */
function shown(value: unknown): string | number | null {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (!isObject(value)) return null
  const { amount, companyName, name, total } = value
  return shown(amount ?? companyName ?? name ?? total)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** `newLeads` -> `new_leads` */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
