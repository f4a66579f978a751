/** The figures by pipeline and by source. The parts add up to the figures of the whole report. */
import type { PipelineLine, SourceLine } from '../../domain/lists.ts'
import type { Money, Period } from '../../domain/model.ts'
import { toCents } from './definition.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type Query, readRows } from './query.ts'
import { RECENT } from './relation.ts'

/**
 * Counts the new, won and recently closed leads by a column. A lead counts under its present source.
 * @param recent the time from which the win rate counts. The prior period needs no win rate, so there it is `:from`
 */
export const countsBy = (group: 'pipeline_id' | 'source', recent = RECENT): Query => ({
  reads: ['new_lead', 'closed'],
  sql: `SELECT ${group} AS "of", count(*) FILTER (WHERE is_new) AS "newLeads", count(*) FILTER (WHERE is_won) AS won,
    count(*) FILTER (WHERE is_recent AND outcome = 'won') AS part, count(*) FILTER (WHERE is_recent) AS whole
  FROM (
    SELECT ${group}, true AS is_new, false AS is_won, false AS is_recent, NULL AS outcome FROM new_lead
    UNION ALL
    SELECT ${group}, false, outcome = 'won' AND closed_at >= :from, closed_at >= ${recent}, outcome
    FROM closed WHERE outcome IN ('won', 'lost') AND closed_at >= min(:from, ${recent})) AS each
  GROUP BY ${group}`,
})

/** The figures leads and open_value for each pipeline, one row for each currency. */
export const LEVELS_BY_PIPELINE = {
  reads: ['level'],
  sql: `SELECT pipeline_id AS "of", value_currency AS currency, sum(leads) AS leads,
    coalesce(sum(leads) FILTER (WHERE outcome = 'open'), 0) AS open,
    ${toCents("total(value_amount) FILTER (WHERE outcome = 'open')")} AS amount
  FROM level GROUP BY pipeline_id, value_currency`,
} as const

export const STALLED_BY_PIPELINE = {
  reads: ['stalled_count'],
  sql: 'SELECT pipeline_id AS "of", leads AS stalled FROM stalled_count',
} as const

interface Counts {
  readonly of: string | null
  readonly newLeads: number
  readonly won: number
  readonly part: number
  readonly whole: number
}

interface Level {
  readonly of: string
  readonly currency: string
  readonly leads: number
  readonly open: number
  readonly amount: number
}

/**
 * Reads the pipelines with leads, or with new or closed leads in a period, in the given order.
 * @param known the scope that ends with the data, for stalled leads
 */
export async function readByPipeline(
  trx: ReadTrx,
  { scope, known }: { readonly scope: FigureScope; readonly known: FigureScope },
  prior: Period,
  pipelines: readonly { readonly id: string; readonly name: string }[],
): Promise<PipelineLine[]> {
  const { current, before } = await readCounts(trx, 'pipeline_id', scope, prior)
  const levels = Map.groupBy(await readRows<Level>(trx, LEVELS_BY_PIPELINE, scope), (row) => row.of)
  const stalled = keyed(await readRows<{ of: string; stalled: number }>(trx, STALLED_BY_PIPELINE, known))
  const lines = pipelines.map(({ id, name }): PipelineLine => {
    const level = levels.get(id) ?? []
    return {
      id,
      name,
      leads: level.reduce((sum, row) => sum + row.leads, 0),
      ...comparedOf(current.get(id), before.get(id)),
      openValue: openValueOf(level),
      stalled: stalled.get(id)?.stalled ?? 0,
    }
  })
  return lines.filter((line) => line.leads > 0 || hasNews(line))
}

/** The source with the most new leads comes first. */
export async function readBySource(trx: ReadTrx, scope: FigureScope, prior: Period): Promise<SourceLine[]> {
  const { current, before } = await readCounts(trx, 'source', scope, prior)
  const sources = [...new Set([...current.keys(), ...before.keys()])]
  return sources
    .map((source): SourceLine => ({ source, ...comparedOf(current.get(source), before.get(source)) }))
    .filter(hasNews)
    .sort(
      (a, b) =>
        b.newLeads.current - a.newLeads.current ||
        b.newLeads.prior - a.newLeads.prior ||
        b.won.current - a.won.current ||
        ((a.source ?? '~') < (b.source ?? '~') ? -1 : 1),
    )
}

async function readCounts(trx: ReadTrx, group: 'pipeline_id' | 'source', scope: FigureScope, prior: Period) {
  const before = { ...scope, from: prior.from, to: prior.to }
  return {
    current: keyed(await readRows<Counts>(trx, countsBy(group), scope)),
    before: keyed(await readRows<Counts>(trx, countsBy(group, ':from'), before)),
  }
}

function keyed<Row extends { readonly of: string | null }>(rows: readonly Row[]): Map<string | null, Row> {
  return new Map(rows.map((row) => [row.of, row]))
}

function comparedOf(current: Counts | undefined, before: Counts | undefined) {
  return {
    newLeads: { current: current?.newLeads ?? 0, prior: before?.newLeads ?? 0 },
    won: { current: current?.won ?? 0, prior: before?.won ?? 0 },
    winRate: { part: current?.part ?? 0, whole: current?.whole ?? 0 },
  }
}

function hasNews({ newLeads, won, winRate }: Pick<PipelineLine, 'newLeads' | 'won' | 'winRate'>): boolean {
  return [newLeads.current, newLeads.prior, won.current, won.prior, winRate.whole].some((count) => count > 0)
}

/** The currency with the most leads first, because amounts of two currencies are never compared. */
function openValueOf(levels: readonly Level[]): Money[] {
  return levels
    .filter(({ currency, open }) => currency !== '' && open > 0)
    .sort((a, b) => b.open - a.open || (a.currency < b.currency ? -1 : 1))
    .map(({ currency, amount }) => ({ amount, currency }))
}
