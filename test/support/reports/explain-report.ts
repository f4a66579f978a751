/** The SQL of each number of a report, with all values filled in. */
import type { ReportFigures } from '../../../src/domain/figures.ts'
import type { Period } from '../../../src/domain/model.ts'
import { countsBy, LEVELS_BY_PIPELINE, STALLED_BY_PIPELINE } from '../../../src/store/figures/breakdown.ts'
import type { FigureName } from '../../../src/store/figures/definition.ts'
import {
  AGENTS,
  DRIFT,
  LAST_SCAN,
  OUTAGES,
  QUARANTINED_RECORDS,
} from '../../../src/store/figures/freshness-figures.ts'
import { REACHED, SERVICE_FUNNEL, staysOf } from '../../../src/store/figures/funnel.ts'
import {
  explainQuery,
  type FigureScope,
  findFigure,
  type Query,
  type QueryValues,
} from '../../../src/store/figures/query.ts'
import { type ReportRequest, scopeOf } from '../../../src/store/figures/report-figures.ts'
import {
  CHANGE_COUNTS,
  CHANGED_LEADS,
  changeValues,
  STALLED_LEADS,
  TOP_LEADS,
} from '../../../src/store/figures/report-lists.ts'
import { spansOf, TREND } from '../../../src/store/figures/series.ts'
import { OUR_LEVELS, STAT_SAMPLES, scopeOfSample } from '../../../src/store/figures/service-stats.ts'

interface Explained {
  readonly block: string
  readonly title: string
  readonly sql: string
  /** The same SQL for the prior period; null if the block does not compare periods. */
  readonly priorSql: string | null
}

/** Lists the SQL in the order of the blocks. The report's own queries are left out. */
export function explainReport(request: ReportRequest, figures: ReportFigures): Explained[] {
  const { period, prior, filter, rowsMax, since } = request
  const scope = scopeOf(request, period)
  const rows = { rows: rowsMax }
  const explain = (
    block: string,
    title: string,
    query: Query,
    of: FigureScope = scope,
    values: QueryValues = {},
    comparedWith: Period | null = null,
  ): Explained => ({
    block,
    title,
    sql: explainQuery(query, of, values),
    priorSql:
      comparedWith && explainQuery(query, { ...of, from: comparedWith.from, to: comparedWith.to }, values),
  })
  const figure = (block: string, name: FigureName) => explain(block, findFigure(name).title, findFigure(name))
  const compared = (block: string, title: string, query: Query) =>
    explain(block, title, query, scope, {}, prior)
  const changes = changeValues(scope, since)
  const sampled = new Map(figures.serviceStats.map(({ pipelineName, asOf }) => [pipelineName, asOf]))
  return [
    figure('headline', 'leads'),
    ...(['new_leads', 'won', 'lost', 'won_value', 'win_rate', 'open_value'] as const).map((name) =>
      compared('kpis', findFigure(name).title, findFigure(name)),
    ),
    explain('trend', 'Trend', TREND, scope, spansOf(request.trendDays)),
    explain('funnel', 'Funnel', figures.funnel.source === 'ours' ? REACHED : SERVICE_FUNNEL),
    explain('funnel', 'Days in stage', findFigure('time_in_stage'), staysOf(scope)),
    explain('changes', 'Changes', CHANGE_COUNTS, scope, changes),
    explain('changes', 'Changed leads', CHANGED_LEADS, scope, { ...changes, ...rows }),
    explain('top_leads', 'Top leads', TOP_LEADS, scope, { ...rows, top_score: request.topScore }),
    figure('stalled', 'stalled'),
    explain('stalled', 'Stalled leads', STALLED_LEADS, scope, { ...rows, candidates: 1_000_000_000 }),
    compared('pipelines', 'By pipeline', countsBy('pipeline_id')),
    explain('pipelines', 'Leads and open pipeline by pipeline', LEVELS_BY_PIPELINE),
    explain('pipelines', 'Stalled by pipeline', STALLED_BY_PIPELINE),
    compared('sources', 'By source', countsBy('source')),
    explain('agents', 'Agents', AGENTS),
    explain('agents', 'Outages', OUTAGES),
    ...(filter.conditions.length > 0 ? [] : [explain('service_stats', 'Their statistics', STAT_SAMPLES)]),
    ...(filter.conditions.length > 0 ? [] : figures.byPipeline).flatMap(({ id, name }) => {
      const asOf = sampled.get(name)
      if (asOf === undefined) return []
      return explain('service_stats', `Ours beside them: ${name}`, OUR_LEVELS, scopeOfSample(scope, id, asOf))
    }),
    explain('data_quality', 'Quarantined records', QUARANTINED_RECORDS),
    explain('data_quality', 'Changed fields', DRIFT),
    explain('data_quality', 'Last reading', LAST_SCAN),
  ]
}
