/**
 * The figures of reports in the snapshot: the meaning of each figure, and the SQL that computes it for the
 * last issue of each report. The SQL runs on the snapshot itself.
 */
import type Database from 'better-sqlite3'
import type { LeadFilter, ReportFigures } from '../../domain/figures.ts'
import { COVERAGES } from '../figures/coverage.ts'
import { FIGURES } from '../figures/definition.ts'
import { EVERY_LEAD } from '../figures/lead-filter.ts'
import { explainQuery, type FigureScope } from '../figures/query.ts'
import { ALL_CANDIDATES, STALLED_LEADS, TOP_LEADS } from '../figures/report-lists.ts'
import { isGroup, parseFigures } from '../reports/issue.ts'

interface Issue {
  readonly report: string
  readonly period: Pick<FigureScope, 'from' | 'to' | 'timeZone'>
  readonly prior: Pick<FigureScope, 'from' | 'to' | 'timeZone'>
  readonly filter: LeadFilter
  readonly stalledDays: number
  readonly topScore: number
}

const LISTS = [
  { ...TOP_LEADS, name: 'top_leads', unit: 'list', coverage: null },
  { ...STALLED_LEADS, name: 'stalled_leads', unit: 'list', coverage: 'stalled' },
] as const
/** The maximum number of rows of a list, as in the files that are attached to a report. */
const LIST_ROWS = 1000

const DAY_MS = 24 * 60 * 60_000
/** The values that are used for two settings of reports as long as no report has been sent. */
const DEFAULTS = { stalledDays: 7, topScore: 80 }

export function fillFigures(database: Database.Database): void {
  const insert = database.prepare('INSERT INTO figure VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (const { report, period, prior, topScore, ...scope } of listIssues(database)) {
    for (const { name, title, meaning, unit, coverage, ...query } of [...FIGURES, ...LISTS]) {
      const explained = [period, prior].map((each) =>
        explainQuery(
          query,
          { ...scope, ...each },
          { top_score: topScore, rows: LIST_ROWS, candidates: ALL_CANDIDATES },
        ),
      )
      const known = coverage && explainQuery(COVERAGES[coverage], { ...scope, ...period }, {})
      insert.run(report, name, title, meaning, unit, period.from, period.to, ...explained, known)
    }
  }
}

/** Lists the last issue of each report: of several, the one with all leads of the report. */
function listIssues(database: Database.Database): Issue[] {
  const rows = database
    .prepare<[], { report: string; figures: string }>(
      `SELECT report, max(period_to || iif(variant = '', 1, 0)), figures FROM report_issue GROUP BY report`,
    )
    .all()
  return rows.length === 0
    ? listDayBefore(database)
    : rows.flatMap(({ report, figures }) => {
        const kept = parseFigures(figures)
        const isWhole = ['period', 'prior', 'stalled', 'topLeads'].every((name) => isGroup(kept[name]))
        return isWhole ? [issueOf(database, report, kept as unknown as KeptFigures)] : []
      })
}

/** The stored figures of an issue. In older issues, the figures name pipelines instead of a filter. */
type KeptFigures = Omit<ReportFigures, 'filter'> & Partial<Pick<ReportFigures, 'filter'>>

function issueOf(
  database: Database.Database,
  report: string,
  { period, prior, pipelines, filter, stalled, topLeads }: KeptFigures,
): Issue {
  return {
    report,
    period,
    prior,
    filter: filter ?? { pipelineIds: idsOf(database, pipelines), conditions: [] },
    stalledDays: stalled.days,
    topScore: topLeads.minScore,
  }
}

function idsOf(database: Database.Database, names: readonly string[]): string[] | null {
  const pipelines = database.prepare<[], { id: string; name: string }>('SELECT id, name FROM pipeline').all()
  const covered = pipelines.filter(({ name }) => names.includes(name))
  return covered.length === pipelines.length ? null : covered.map(({ id }) => id)
}

function listDayBefore(database: Database.Database): Issue[] {
  const asOf =
    database.prepare<[], string | null>('SELECT leads_as_of FROM snapshot_info').pluck().get() ?? null
  if (asOf === null) return []
  const midnight = Date.parse(`${asOf.slice(0, 10)}T00:00:00.000Z`)
  const dayTo = (to: number) => ({
    from: new Date(to - DAY_MS).toISOString(),
    to: new Date(to).toISOString(),
  })
  const [period, prior] = [dayTo(midnight), dayTo(midnight - 7 * DAY_MS)]
  return [{ report: '', period, prior, filter: EVERY_LEAD, ...DEFAULTS }]
}
