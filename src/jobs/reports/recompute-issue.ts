/** The figures of a kept edition asked for again, and why they may not be what they were. */
import type { ReportFigures } from '../../domain/figures.ts'
import { daysUpTo, periodsUpTo } from '../../domain/period.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { countLeadsKnownLater } from '../../store/figures/late-arrivals.ts'
import { type ReportRequest, readReportFigures } from '../../store/figures/report-figures.ts'
import { type Edition, findLastSent, toldUpTo } from '../../store/reports/issue.ts'
import { compareFigures, type FigureDifference } from './figure-difference.ts'
import { LIST_ROWS_MAX } from './report-definition.ts'

export interface EditionComparison {
  /** Empty where all are equal. */
  readonly differences: readonly FigureDifference[]
  /** Leads of which something of that time was read only after the edition was made. */
  readonly leadsKnownLater: number
}

/** @param isAsKnown whether only what was known when the edition was made counts, by which nothing differs */
export async function compareEdition(
  store: Pick<Store, 'db'>,
  edition: Edition,
  isAsKnown: boolean,
): Promise<EditionComparison> {
  const { figures: kept, renderedAt } = edition
  const request = await findRequest(store.db, edition)
  const now = await readReportFigures(store.db, { ...request, asKnownAt: isAsKnown ? renderedAt : null })
  return {
    differences: compareFigures(kept, now),
    leadsKnownLater: isAsKnown ? 0 : await countLeadsKnownLater(store.db, kept.period.to, renderedAt),
  }
}

/** What the figures of a kept edition were asked for with. */
export async function findRequest(db: Db, edition: Edition): Promise<ReportRequest> {
  const { report, variant, renderedAt } = edition
  const { kind, period, prior, filter, stalled, topLeads, trend } = edition.figures
  const last = await findLastSent(db, { report, variant, kind }, period.to, renderedAt)
  return {
    ...{ kind, period, prior, filter, stalledDays: stalled.days, topScore: topLeads.minScore },
    rowsMax: rowsKept(edition.figures),
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
