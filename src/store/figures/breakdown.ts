/** The figures by pipeline and by source. The parts add up to the figures of the whole report. */
import type { PipelineLine, SourceLine } from '../../domain/lists.ts'
import type { Money } from '../../domain/model.ts'
import { toCents } from './definition.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, type Query, readRows } from './query.ts'
import { RECENT } from './relation.ts'

/** Counts the new, won and recently closed leads by a column. A lead counts under its present source. */
const countsBy = (group: 'pipeline_id' | 'source'): Query => ({
  reads: ['new_lead', 'closed'],
  sql: `SELECT ${group} AS "of", count(*) FILTER (WHERE is_new) AS "newLeads", count(*) FILTER (WHERE is_won) AS won,
    count(*) FILTER (WHERE is_recent AND outcome = 'won') AS part, count(*) FILTER (WHERE is_recent) AS whole
  FROM (
    SELECT ${group}, true AS is_new, false AS is_won, false AS is_recent, NULL AS outcome FROM new_lead
    UNION ALL
    SELECT ${group}, false, outcome = 'won' AND closed_at >= :from, closed_at >= ${RECENT}, outcome
    FROM closed WHERE outcome IN ('won', 'lost') AND closed_at >= min(:from, ${RECENT})) AS each
  GROUP BY ${group}`,
})

/** The figures leads and open_value for each pipeline, one row for each currency. */
const LEVELS_BY_PIPELINE = {
  reads: ['level'],
  sql: `SELECT pipeline_id AS "of", value_currency AS currency, sum(leads) AS leads,
    coalesce(sum(leads) FILTER (WHERE outcome = 'open'), 0) AS open,
    ${toCents("total(value_amount) FILTER (WHERE outcome = 'open')")} AS amount
  FROM level GROUP BY pipeline_id, value_currency`,
} as const

const STALLED_BY_PIPELINE = {
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
  pipelines: readonly { readonly id: string; readonly name: string }[],
): Promise<PipelineLine[]> {
  const counts = await readCounts(trx, 'pipeline_id', scope)
  const levels = Map.groupBy(await readRows<Level>(trx, LEVELS_BY_PIPELINE, scope), (row) => row.of)
  const stalled = keyed(await readRows<{ of: string; stalled: number }>(trx, STALLED_BY_PIPELINE, known))
  const lines = pipelines.map(({ id, name }): PipelineLine => {
    const level = levels.get(id) ?? []
    return {
      id,
      name,
      leads: level.reduce((sum, row) => sum + row.leads, 0),
      ...countsOf(counts.get(id)),
      openValue: openValueOf(level),
      stalled: stalled.get(id)?.stalled ?? 0,
    }
  })
  return lines.filter((line) => line.leads > 0 || hasNews(line))
}

/** The source with the most new leads comes first. */
export async function readBySource(trx: ReadTrx, scope: FigureScope): Promise<SourceLine[]> {
  return [...(await readCounts(trx, 'source', scope))]
    .map(([source, counts]): SourceLine => ({ source, ...countsOf(counts) }))
    .filter(hasNews)
    .sort(
      (a, b) => b.newLeads - a.newLeads || b.won - a.won || ((a.source ?? '~') < (b.source ?? '~') ? -1 : 1),
    )
}

async function readCounts(trx: ReadTrx, group: 'pipeline_id' | 'source', scope: FigureScope) {
  return keyed(await readRows<Counts>(trx, countsBy(group), scope))
}

function keyed<Row extends { readonly of: string | null }>(rows: readonly Row[]): Map<string | null, Row> {
  return new Map(rows.map((row) => [row.of, row]))
}

function countsOf({ newLeads, won, part, whole }: Omit<Counts, 'of'> = NO_COUNTS) {
  return { newLeads, won, winRate: { part, whole } }
}

const NO_COUNTS = { newLeads: 0, won: 0, part: 0, whole: 0 }

function hasNews({ newLeads, won, winRate }: Pick<PipelineLine, 'newLeads' | 'won' | 'winRate'>): boolean {
  return newLeads + won + winRate.whole > 0
}

/** The currency with the most leads first, because amounts of two currencies are never compared. */
function openValueOf(levels: readonly Level[]): Money[] {
  return levels
    .filter(({ currency, open }) => currency !== '' && open > 0)
    .sort((a, b) => b.open - a.open || (a.currency < b.currency ? -1 : 1))
    .map(({ currency, amount }) => ({ amount, currency }))
}
