/** The figures of a kept issue asked for again, and why they may not be what they were. */
import type { ReportFigures } from '../../domain/figures.ts'
import { daysUpTo, periodsUpTo } from '../../domain/period.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { countLeadsKnownLater } from '../../store/figures/late-arrivals.ts'
import { type ReportRequest, readReportFigures } from '../../store/figures/report-figures.ts'
import { findLastSent, type Issue, toldUpTo } from '../../store/reports/issue.ts'
import { compareFigures, type FigureDifference } from './figure-difference.ts'
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
    asKnownAt: null,
  }
}

/** A list that was cut tells how many rows were kept. */
function rowsKept({ topLeads, stalled, changes }: ReportFigures): number {
  const cut = [topLeads, stalled, ...changes.kinds].find(({ total, rows }) => total > rows.length)
  return cut?.rows.length ?? LIST_ROWS_MAX
}
