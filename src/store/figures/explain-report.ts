/** Explains how each number of a report is made: what each block counts, and the SQL that counts it. */
import type { ReportFigures } from '../../domain/figures.ts'
import type { Period } from '../../domain/model.ts'
import { COUNTS_BY_PIPELINE, COUNTS_BY_SOURCE, LEVELS_BY_PIPELINE, STALLED_BY_PIPELINE } from './breakdown.ts'
import type { FigureName } from './definition.ts'
import {
  AGENTS,
  DRIFT,
  LAST_SCAN,
  LAST_WHOLE_RUN,
  OUTAGES,
  QUARANTINED_RECORDS,
} from './freshness-figures.ts'
import { REACHED, SERVICE_FUNNEL, staysOf } from './funnel.ts'
import { explainQuery, type FigureScope, findFigure, type Query, type QueryValues } from './query.ts'
import { type ReportRequest, scopeOf } from './report-figures.ts'
import {
  ALL_CANDIDATES,
  CHANGE_COUNTS,
  CHANGED_LEADS,
  changeValues,
  STALLED_LEADS,
  TOP_LEADS,
} from './report-lists.ts'
import { SPARKLINES, spansOf, TREND } from './series.ts'
import { OUR_LEVELS, STAT_SAMPLES, scopeOfSample } from './service-stats.ts'

interface Explained {
  readonly block: string
  /** The name of the figure; null for a list, and for a query over several spans or groups. */
  readonly figure: FigureName | null
  readonly title: string
  readonly meaning: string
  /** The SQL with all values filled in, which any SQLite program can run. */
  readonly sql: string
  /** The same SQL for the prior period; null if the block does not compare periods. */
  readonly priorSql: string | null
}

type Described = Query & { readonly title: string; readonly meaning: string; readonly name?: FigureName }

/** Lists the explanations in the order of the blocks. The report's own queries are left out. */
export function explainReport(request: ReportRequest, figures: ReportFigures): Explained[] {
  const { period, prior, filter, rowsMax, since } = request
  const scope = scopeOf(request, period)
  const rows = { rows: rowsMax }
  const explain = (
    block: string,
    query: Described,
    of: FigureScope = scope,
    values: QueryValues = {},
    comparedWith: Period | null = null,
  ): Explained => ({
    block,
    figure: query.name ?? null,
    title: query.title,
    meaning: query.meaning,
    sql: explainQuery(query, of, values),
    priorSql:
      comparedWith && explainQuery(query, { ...of, from: comparedWith.from, to: comparedWith.to }, values),
  })
  const figure = (block: string, name: FigureName) => explain(block, findFigure(name))
  const compared = (block: string, query: Described) => explain(block, query, scope, {}, prior)
  const changes = changeValues(scope, since)
  const isOurs = filter.conditions.length > 0
  return [
    figure('headline', 'leads'),
    explain('freshness', LAST_WHOLE_RUN),
    ...(['new_leads', 'won', 'lost', 'won_value', 'win_rate', 'open_value'] as const).map((name) =>
      compared('kpis', findFigure(name)),
    ),
    explain('kpis', SPARKLINES, scope, spansOf(request.sparkPeriods)),
    explain('trend', TREND, scope, spansOf(request.trendDays)),
    explain('funnel', figures.funnel.source === 'ours' ? REACHED : SERVICE_FUNNEL),
    explain('funnel', findFigure('time_in_stage'), staysOf(scope)),
    explain('changes', CHANGE_COUNTS, scope, changes),
    explain('changes', CHANGED_LEADS, scope, { ...changes, ...rows }),
    explain('top_leads', TOP_LEADS, scope, { ...rows, top_score: request.topScore }),
    figure('stalled', 'stalled'),
    explain('stalled', STALLED_LEADS, scope, { ...rows, candidates: ALL_CANDIDATES }),
    compared('pipelines', COUNTS_BY_PIPELINE),
    explain('pipelines', LEVELS_BY_PIPELINE),
    explain('pipelines', STALLED_BY_PIPELINE),
    compared('sources', COUNTS_BY_SOURCE),
    explain('agents', AGENTS),
    explain('agents', OUTAGES),
    ...(isOurs ? [] : [explain('service_stats', STAT_SAMPLES), ...ourLevels()]),
    explain('data_quality', QUARANTINED_RECORDS),
    explain('data_quality', DRIFT),
    explain('data_quality', LAST_SCAN),
  ]

  /** Explains our counts for each pipeline whose statistics at the upstream differ from our counts. */
  function ourLevels(): Explained[] {
    const sampled = new Map(figures.serviceStats.map(({ pipelineName, asOf }) => [pipelineName, asOf]))
    return figures.byPipeline.flatMap(({ id, name }): Explained[] => {
      const asOf = sampled.get(name)
      if (asOf === undefined) return []
      const title = `${OUR_LEVELS.title}: ${name}`
      return [explain('service_stats', { ...OUR_LEVELS, title }, scopeOfSample(scope, id, asOf))]
    })
  }
}
