/** Explains how each figure of an issue was computed; the issue's page in the archive shows it. */
import type { ReportFigures } from '../../domain/figures.ts'
import type { Instant } from '../../model.ts'
import type { ExplainedFigure } from '../../report/archive/about.ts'
import { explainReport } from '../../store/figures/explain-report.ts'
import type { ReportRequest } from '../../store/figures/report-figures.ts'
import { explainReportQuery } from '../../store/queries/report-query.ts'

/**
 * Explains the figures.
 * @param request the request by which the figures were read
 * @param readAt when they were read
 */
export function explainIssue(
  request: ReportRequest,
  figures: ReportFigures,
  readAt: Instant,
): ExplainedFigure[] {
  const queries = figures.queries.map(
    ({ title, note, sql }): ExplainedFigure => ({
      ...{ block: 'queries', figure: null, title, meaning: note ?? 'as the report’s own folder asks' },
      ...{ sql: explainReportQuery(sql, request), priorSql: null },
    }),
  )
  return [...explainReport({ ...request, asKnownAt: readAt }, figures), ...queries]
}
