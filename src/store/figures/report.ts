/**
 * All figures of a report, from one moment of the store. Numbers come from the definitions of `definition.ts`, or of
 * many spans or groups at once, and then are the same.
 */
import type { Compared, PeriodKind, ReportFigures } from '../../figures.ts'
import type { Money, Period, Ratio } from '../../model.ts'
import type { Db } from '../open.ts'
import { listOf } from '../sqlite.ts'
import { readByPipeline, readBySource } from './breakdown.ts'
import { type LastTold, readChanges } from './changes.ts'
import { giveChosen } from './chosen-leads.ts'
import type { FigureName } from './definition.ts'
import { readFunnel } from './funnel.ts'
import { atOneMoment, type Moment } from './moment.ts'
import { type FigureRow, type FigureScope, readFigureAt } from './query.ts'
import { readStalled, readTopLeads } from './report-lists.ts'
import { readSparklines, readTrend } from './series.ts'
import { readServiceStats } from './service-stats.ts'
import { readAgents, readDataQuality, readFreshness } from './upstream.ts'

export interface ReportRequest extends Pick<FigureScope, 'filter' | 'stalledDays' | 'asKnownAt'> {
  readonly kind: PeriodKind
  readonly period: Period
  readonly prior: Period
  readonly topScore: number
  /** So many rows of each list are kept. */
  readonly rowsMax: number
  /** The last edition that was sent; null before the first. */
  readonly since: LastTold | null
  /** The last periods of the kind up to this one, in order. */
  readonly sparkPeriods: readonly Period[]
  /** Whole local days up to the end of the period, in order. */
  readonly trendDays: readonly Period[]
}

/**
 * `queries` is left empty: a report's own SQL is asked elsewhere.
 * @param db not one inside a transaction
 * @throws LeadsheetError config_invalid for a filter that cannot be
 */
export async function readReportFigures(db: Db, request: ReportRequest): Promise<ReportFigures> {
  return atOneMoment(db, async (moment) =>
    readAt(await giveChosen(moment, scopeOf(request, request.period)), request),
  )
}

async function readAt(moment: Moment, request: ReportRequest): Promise<ReportFigures> {
  const { kind, period, prior, filter, rowsMax } = request
  const { db } = moment
  const scope = scopeOf(request, period)
  const compared = async <T>(
    name: FigureName,
    read: (rows: readonly FigureRow[]) => T,
  ): Promise<Compared<T>> => ({
    current: read(await readFigureAt(moment, name, scope)),
    prior: read(await readFigureAt(moment, name, scopeOf(request, prior))),
  })
  const freshness = await readFreshness(db, period.to)
  const pipelines = await listPipelines(db, filter.pipelineIds)
  const openValue = await compared('open_value', moneyIn)
  const currency = openValue.current[0]?.currency ?? null
  return {
    kind,
    period,
    prior,
    filter,
    freshness,
    pipelines: pipelines.map(({ name }) => name),
    leads: countIn(await readFigureAt(moment, 'leads', scope)),
    newLeads: await compared('new_leads', countIn),
    won: await compared('won', countIn),
    lost: await compared('lost', countIn),
    wonValue: await compared('won_value', moneyIn),
    winRate: await compared('win_rate', ratioIn),
    openValue,
    sparklines: await readSparklines(moment, scope, request.sparkPeriods, currency, freshness.dataAsOf),
    trend: await readTrend(moment, scope, request.trendDays, freshness.dataAsOf),
    funnel: await readFunnel(moment, scope, freshness.dataAsOf),
    changes: await readChanges(moment, scope, request.since, rowsMax),
    topLeads: await readTopLeads(moment, scope, request.topScore, rowsMax),
    stalled: await readStalled(moment, scope, rowsMax),
    byPipeline: await readByPipeline(moment, scope, prior, pipelines),
    bySource: await readBySource(moment, scope, prior),
    agents: await readAgents(moment, scope),
    serviceStats: await readServiceStats(moment, scope),
    dataQuality: await readDataQuality(moment, scope),
    queries: [],
  }
}

export function scopeOf(
  { filter, stalledDays, asKnownAt }: ReportRequest,
  { from, to }: Period,
): FigureScope {
  return { from, to, filter, stalledDays, asKnownAt }
}

function countIn(rows: readonly FigureRow[]): number {
  return rows[0]?.value ?? 0
}

function moneyIn(rows: readonly FigureRow[]): Money[] {
  return rows.map(({ of, value }) => ({ amount: value ?? 0, currency: of ?? '' }))
}

function ratioIn(rows: readonly FigureRow[]): Ratio {
  return { part: rows[0]?.part ?? 0, whole: rows[0]?.whole ?? 0 }
}

async function listPipelines(
  db: Db,
  pipelineIds: readonly string[] | null,
): Promise<{ id: string; name: string }[]> {
  const all = db.selectFrom('pipeline').select(['id', 'name']).orderBy('name').orderBy('id')
  return (pipelineIds === null ? all : all.where('id', 'in', listOf(pipelineIds))).execute()
}
