/** Compares the upstream's statistics from before our last sync with our counts of that moment. */
import type { StatDifference } from '../../domain/lists.ts'
import type { Instant, StageOutcome } from '../../domain/model.ts'
import type { Row } from '../tables/tables.ts'
import { toCents } from './definition.ts'
import type { ReadTrx } from './query.ts'
import { type FigureScope, readRows } from './query.ts'

/** The last statistics of each pipeline that our copy covers. */
const STAT_SAMPLES = {
  reads: [],
  sql: `SELECT pipeline.name AS "pipelineName", stat.* FROM pipeline_stat AS stat JOIN pipeline ON pipeline.id = pipeline_id
  WHERE (:pipelines IS NULL OR pipeline_id IN (SELECT value FROM json_each(:pipelines)))
    AND stat.observed_at = (SELECT max(observed_at) FROM pipeline_stat AS each WHERE each.pipeline_id = pipeline.id
      AND each.as_of <= (SELECT max(leads_as_of) FROM sync_run))
  ORDER BY name, pipeline_id`,
} as const

/** Our leads and their value by outcome. */
const OUR_LEVELS = {
  reads: ['level'],
  sql: `SELECT outcome, value_currency AS currency, sum(leads) AS leads, ${toCents('sum(value_amount)')} AS amount
  FROM level GROUP BY outcome, value_currency`,
} as const

type Sample = Readonly<Row<'pipeline_stat'>> & { readonly pipelineName: string }

interface Level {
  readonly outcome: StageOutcome
  readonly currency: string
  readonly leads: number
  readonly amount: number
}

type Pair = Pick<StatDifference, 'figure' | 'ours' | 'currency'> & { readonly upstream: number | null }

/** The largest difference between equal rates, because the upstream rounds rates to four digits. */
const RATE_TOLERANCE = 0.0001
/** The largest difference between equal amounts of money, because the upstream rounds sums to cents. */
const VALUE_TOLERANCE = 0.011

/** Empty where the filter has conditions, because the upstream's statistics cannot be filtered. */
export async function readServiceStats(trx: ReadTrx, scope: FigureScope): Promise<StatDifference[]> {
  if (scope.filter.conditions.length > 0) return []
  const differences: StatDifference[] = []
  for (const sample of await readRows<Sample>(trx, STAT_SAMPLES, scope)) {
    const { pipelineName, pipeline_id: pipelineId, as_of: asOf } = sample
    const levels = await readRows<Level>(trx, OUR_LEVELS, scopeOfSample(scope, pipelineId, asOf))
    for (const { upstream, ...pair } of pairsOf(sample, levels)) {
      if (upstream === null || Math.abs(pair.ours - upstream) <= toleranceOf(pair.figure)) continue
      differences.push({ pipelineName, ...pair, upstream, asOf })
    }
  }
  return differences
}

/** The scope ends with the moment of the sample, included. */
function scopeOfSample(scope: FigureScope, pipelineId: string, asOf: Instant): FigureScope {
  const to = new Date(Date.parse(asOf) + 1).toISOString()
  return { ...scope, to, filter: { pipelineIds: [pipelineId], conditions: [] } }
}

function pairsOf(sample: Sample, levels: readonly Level[]): Pair[] {
  const count = (outcome?: StageOutcome) =>
    levels
      .filter((level) => outcome === undefined || level.outcome === outcome)
      .reduce((sum, level) => sum + level.leads, 0)
  const value = (outcome: 'open' | 'won', currency: string | null, upstream: number | null): Pair[] => {
    if (currency === null) return []
    const level = levels.find((each) => each.outcome === outcome && each.currency === currency)
    return [{ figure: `${outcome}_value`, currency, ours: level?.amount ?? 0, upstream }]
  }
  const [won, lost] = [count('won'), count('lost')]
  const plain = { currency: null }
  return [
    { ...plain, figure: 'leads', ours: count(), upstream: sample.leads },
    { ...plain, figure: 'open', ours: count('open'), upstream: sample.open },
    { ...plain, figure: 'won', ours: won, upstream: sample.won },
    { ...plain, figure: 'lost', ours: lost, upstream: sample.lost },
    { ...plain, figure: 'disqualified', ours: count('disqualified'), upstream: sample.disqualified },
    ...(won + lost > 0
      ? [{ ...plain, figure: 'win_rate' as const, ours: won / (won + lost), upstream: sample.win_rate }]
      : []),
    ...value('open', sample.open_value_currency, sample.open_value_amount),
    ...value('won', sample.won_value_currency, sample.won_value_amount),
  ]
}

function toleranceOf(figure: StatDifference['figure']): number {
  if (figure === 'win_rate') return RATE_TOLERANCE
  return figure.endsWith('_value') ? VALUE_TOLERANCE : 0
}
