/**
 * Reads all figures of a report from one consistent read of the database. Queries over many spans or groups
 * give the same numbers as the definitions of `definition.ts`. A report fails without its core numbers. Every
 * other section is read separately, so that one failure leaves the others intact.
 */
import type { FailedSection, PeriodKind, ReportFigures } from '../../domain/figures.ts'
import type { Compared, HistoryCoverage, Instant, Money, Period, Ratio } from '../../domain/model.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import { readByPipeline, readBySource } from './breakdown.ts'
import { readCoverage } from './coverage.ts'
import type { CoverageName, FigureName } from './definition.ts'
import { FIGURES } from './definition.ts'
import { readAgents, readDataQuality, readFreshness } from './freshness-figures.ts'
import { readFunnel, staysOf } from './funnel.ts'
import type { FigureRow, FigureScope, ReadTrx } from './query.ts'
import { inReadTransaction, readFigureAt, readPart } from './query.ts'
import type { LastReported } from './report-lists.ts'
import { readChanges, readStalled, readTopLeads } from './report-lists.ts'
import { readTrend } from './series.ts'
import { readServiceStats } from './service-stats.ts'
import { fillDays, fillFilteredLeads, fillTempTables } from './temp-tables.ts'

export interface ReportRequest extends Pick<FigureScope, 'filter' | 'stalledDays'> {
  readonly kind: PeriodKind
  readonly period: Period
  readonly prior: Period
  readonly topScore: number
  /** The maximum number of rows in each list. */
  readonly rowsMax: number
  /** The last enqueued issue of the report; null before the first issue. */
  readonly since: LastReported | null
  /** The whole local days up to the end of the period, in order. */
  readonly trendDays: readonly Period[]
}

/**
 * Reads all figures of a report. Leaves `insight`, `queries` and `warnings` empty, because other code fills
 * them.
 * @param db must not be inside a transaction
 * @throws LeadsheetError config_invalid for an invalid filter; report_failed where the core numbers cannot be
 * read; any error of the store
 */
export async function readReportFigures(db: Db, request: ReportRequest): Promise<ReportFigures> {
  return inReadTransaction(db, async (trx) =>
    readAt(await fillFilteredLeads(trx, scopeOf(request, request.period)), request),
  )
}

type CoreFigures = Pick<
  ReportFigures,
  'freshness' | 'leads' | 'newLeads' | 'won' | 'lost' | 'wonValue' | 'winRate' | 'openValue' | 'known'
> & { readonly pipelines: readonly { readonly id: string; readonly name: string }[] }

type Sections = Omit<
  ReportFigures,
  keyof CoreFigures | 'kind' | 'period' | 'prior' | 'filter' | 'insight' | 'queries' | 'failed' | 'warnings'
>

async function readAt(chosen: ReadTrx, request: ReportRequest): Promise<ReportFigures> {
  const { kind, period, prior, filter } = request
  const { trx, pipelines, ...core } = await readCore(chosen, request).catch((thrown: unknown) => {
    throw thrown instanceof LeadsheetError ? thrown : unreadable(thrown)
  })
  const { sections, failed } = await readSections(trx, request, { ...core, pipelines })
  const names = pipelines.map(({ name }) => name)
  return {
    kind,
    period,
    prior,
    filter,
    ...core,
    pipelines: names,
    ...sections,
    insight: null,
    queries: [],
    failed,
    warnings: [],
  }
}

/** Reads the core numbers. The returned `trx` has temporary tables that the sections use too. */
async function readCore(
  chosen: ReadTrx,
  request: ReportRequest,
): Promise<CoreFigures & { readonly trx: ReadTrx }> {
  const { period, prior: before, filter, since } = request
  const { db } = chosen
  const [scope, scopeBefore] = [scopeOf(request, period), scopeOf(request, before)]
  const periods = [period, before, staysOf(scope)]
  const [first = ''] = [...periods.map(({ from }) => from), since?.at ?? period.from].sort()
  const counted = await fillDays(chosen, scope, first)
  const prior = await readCompared(await fillTempTables(counted, scopeBefore, ['level']), scopeBefore)
  const trx = await fillTempTables(counted, scope, ['level'])
  const current = await readCompared(trx, scope)
  const compared = <Name extends keyof ComparedFigures>(name: Name): Compared<ComparedFigures[Name]> => ({
    current: current[name],
    prior: prior[name],
  })
  return {
    trx,
    freshness: await readFreshness(db, period.to),
    pipelines: await listPipelines(db, filter.pipelineIds),
    leads: countIn(await readFigureAt(trx, 'leads', scope)),
    newLeads: compared('newLeads'),
    won: compared('won'),
    lost: compared('lost'),
    wonValue: compared('wonValue'),
    winRate: compared('winRate'),
    openValue: compared('openValue'),
    known: { status: compared('status'), value: compared('value') },
  }
}

type ComparedFigures = Awaited<ReturnType<typeof readCompared>>

async function readCompared(trx: ReadTrx, scope: FigureScope) {
  const read = (name: FigureName) => readFigureAt(trx, name, scope)
  return {
    newLeads: countIn(await read('new_leads')),
    won: countIn(await read('won')),
    lost: countIn(await read('lost')),
    wonValue: moneyIn(await read('won_value')),
    winRate: ratioIn(await read('win_rate')),
    openValue: moneyIn(await read('open_value')),
    status: await readCoverage(trx, 'end', scope),
    value: await readCoverage(trx, 'value', scope),
  }
}

async function readSections(
  core: ReadTrx,
  request: ReportRequest,
  { freshness, pipelines }: CoreFigures,
): Promise<{ sections: Sections; failed: FailedSection[] }> {
  const { period, topScore, rowsMax } = request
  const scope = scopeOf(request, period)
  const known = upToData(scope, freshness.dataAsOf)
  const failed: FailedSection[] = []
  // Fills temporary tables that two sections read. Ignores a failure here, because then both sections fail
  // too and report the failure themselves.
  const trx = await readPart(core, () => fillTempTables(core, known, ['touched', 'stalled_count'])).catch(
    () => core,
  )
  const section = async <T>(block: string, read: () => Promise<T>, empty: T): Promise<T> => {
    try {
      return await readPart(trx, read)
    } catch (thrown) {
      if (thrown instanceof LeadsheetError && thrown.code === 'store_unreachable') throw thrown
      failed.push({ block, query: null, message: errorText(thrown) })
      return empty
    }
  }
  const { trendDays, since } = request
  const { dataAsOf } = freshness
  const sections: Sections = {
    trend: await section('trend', () => readTrend(trx, scope, trendDays, dataAsOf), []),
    funnel: await section('funnel', () => readFunnel(trx, scope, dataAsOf), {
      source: 'service',
      coverage: null,
      daysCoverage: NOTHING,
      asOf: null,
      stages: [],
    }),
    changes: await section('changes', () => readChanges(trx, scope, since, rowsMax), {
      since: since?.at ?? period.from,
      coverage: NOTHING,
      kinds: [],
    }),
    topLeads: await section('top_leads', () => readTopLeads(trx, scope, topScore, rowsMax), {
      minScore: topScore,
      total: 0,
      rows: [],
    }),
    stalled: await section('stalled', () => readStalled(trx, known, rowsMax), {
      days: scope.stalledDays,
      coverage: NOTHING,
      total: 0,
      rows: [],
    }),
    byPipeline: await section('pipelines', () => readByPipeline(trx, { scope, known }, pipelines), []),
    bySource: await section('sources', () => readBySource(trx, scope), []),
    agents: await section('agents', () => readAgents(trx, scope), { asOf: null, rows: [], outages: [] }),
    serviceStats: await section('service_stats', () => readServiceStats(trx, scope), []),
    dataQuality: await section('data_quality', () => readDataQuality(trx, scope), {
      quarantined: [],
      drift: [],
      lastScan: null,
    }),
  }
  return { sections, failed }
}

const NOTHING = { known: 0, of: 0 }

function unreadable(cause: unknown): LeadsheetError {
  return new LeadsheetError(
    'report_failed',
    `The numbers of the report cannot be read: ${errorText(cause)}`,
    {
      hint: `Nothing was sent. ${shellCommand('doctor')} checks the database.`,
      cause,
    },
  )
}

export function scopeOf(
  { filter, stalledDays }: Pick<FigureScope, 'filter' | 'stalledDays'>,
  { from, to, timeZone }: Period,
): FigureScope {
  return { from, to, timeZone, filter, stalledDays }
}

/**
 * Ends a scope with the data: a lead does not stall because nobody has read it.
 * @param dataAsOf the time up to which everything has been read; null if never
 */
function upToData(scope: FigureScope, dataAsOf: Instant | null): FigureScope {
  if (dataAsOf === null || dataAsOf >= scope.to) return scope
  return { ...scope, to: dataAsOf, from: dataAsOf < scope.from ? dataAsOf : scope.from }
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

/* The figures of several scopes, from one consistent read of the database. */

/** The coverage of figures that need the history of leads: the number of leads with a known history. */
export type Coverages = ReadonlyMap<FigureName, HistoryCoverage>

export type Figures = ReadonlyMap<FigureName, readonly FigureRow[]>

export async function readFigures(db: Db, scopes: readonly FigureScope[]): Promise<Figures[]> {
  return readEach(db, scopes, async (trx, scope) => {
    const figures = new Map<FigureName, FigureRow[]>()
    for (const { name } of FIGURES) figures.set(name, await readFigureAt(trx, name, scope))
    return figures
  })
}

/** Reads the coverages of the figures that depend on the history of leads, in the order of the scopes. */
export async function readCoverages(db: Db, scopes: readonly FigureScope[]): Promise<Coverages[]> {
  return readEach(db, scopes, async (trx, scope) => {
    const coverages = new Map<FigureName, HistoryCoverage>()
    const read = new Map<CoverageName, HistoryCoverage>()
    for (const { name, coverage } of FIGURES) {
      if (coverage === null) continue
      const known = read.get(coverage) ?? (await readCoverage(trx, coverage, scope))
      read.set(coverage, known)
      coverages.set(name, known)
    }
    return coverages
  })
}

async function readEach<T>(
  db: Db,
  scopes: readonly FigureScope[],
  read: (trx: ReadTrx, scope: FigureScope) => Promise<T>,
): Promise<T[]> {
  return inReadTransaction(db, async (trx) => {
    const found: T[] = []
    for (const scope of scopes) {
      const chosen = await fillDays(await fillFilteredLeads(trx, scope), scope, scope.from)
      found.push(
        await read(await fillTempTables(chosen, scope, ['level', 'touched', 'stalled_count']), scope),
      )
    }
    return found
  })
}

/** Lists pipelines in order of name; `ids` is null for all of them. */
export async function listPipelines(
  db: Db,
  ids: readonly string[] | null = null,
): Promise<{ id: string; name: string }[]> {
  const all = db.selectFrom('pipeline').select(['id', 'name']).orderBy('name').orderBy('id')
  return (ids === null ? all : all.where('id', 'in', listOf(ids))).execute()
}
