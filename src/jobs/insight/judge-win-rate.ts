/**
 * Judges win rates (won leads as a share of won and lost leads): the rate of all leads of a report, and the
 * rate of each pipeline. Finds which leads made a rate unusual.
 */
import type { CountedPipeline, DriverDimension, JudgedWinRate } from '../../domain/insight.ts'
import { chooseRateSplit, type RateMember } from '../../insight/rate-drivers.ts'
import { total } from '../../insight/series.ts'
import { judgeRate, RATE_DAYS, RATE_NEEDED, type RateNumbers } from '../../insight/win-rate.ts'
import { DIMENSIONS } from '../../store/insight/daily-count.ts'
import { type DailyReader, sumOf } from './forecast.ts'

/**
 * The number of days before the last 30 days. To explain an unusual rate, the rate of the last 30 days is
 * compared with the rate of these earlier days.
 */
const BEFORE_DAYS = 6 * RATE_DAYS

/**
 * Reads the won and lost leads of each day, from which win rates are computed: first for all leads, then for
 * each pipeline if there are several. The pipeline null stands for all leads.
 * @param leftOutOf returns for each day whether the numbers of a pipeline are left out
 * @param isDistrusted returns whether a pipeline's published ranges contained the real rate too rarely
 */
export async function readRates(
  { dates, read }: DailyReader,
  names: ReadonlyMap<string, string>,
  leftOutOf: (pipeline: CountedPipeline) => readonly boolean[],
  isDistrusted: (pipeline: CountedPipeline) => boolean,
): Promise<[ofAll: RateNumbers, ...ofPipelines: RateNumbers[]]> {
  const [won, lost] = await Promise.all([read('won', 'pipeline_id'), read('lost', 'pipeline_id')])
  const ids = [...new Set([...won.keys(), ...lost.keys()])].sort()
  const ratesOf = (pipeline: CountedPipeline, members: readonly string[]): RateNumbers => {
    const isLeftOut = leftOutOf(pipeline)
    const [ofWon = [], ofLost = []] = [won, lost].map((all) =>
      sumOf(
        members.flatMap((id) => [all.get(id) ?? []]),
        dates.length,
      ).map((value, day) => (isLeftOut[day] ? 0 : value)),
    )
    return { pipeline, won: ofWon, lost: ofLost, isDistrusted: isDistrusted(pipeline) }
  }
  const ofPipelines = ids.length < 2 ? [] : ids.map((id) => ratesOf({ id, name: names.get(id) ?? id }, [id]))
  return [ratesOf(null, ids), ...ofPipelines]
}

/**
 * Judges a win rate by the rates of earlier periods of the same length.
 * @returns the judged rate, and the probability of a rate that is at least as unusual. The probability is
 *   null if no range is shown for the rate.
 */
export function judgeWinRate({ pipeline, isDistrusted, ...days }: RateNumbers): {
  judged: JudgedWinRate
  probability: number | null
} {
  const { steps, record, isTrusted } = judgeRate(days)
  const { won, decided, known, forecast } = steps.at(-1) ?? { won: 0, decided: 0, known: 0, forecast: null }
  const isShown = forecast !== null && isTrusted && !isDistrusted
  return {
    judged: {
      pipeline,
      won,
      decided,
      origin: null,
      periods: { known, needed: RATE_NEEDED },
      judgement: isShown ? 'usual' : forecast === null ? 'learning' : 'withheld',
      range: isShown ? forecast.range95 : null,
      expected: isShown ? forecast.rate : null,
      record: record.judged > 0 ? { hits: record.hits95, of: record.judged } : null,
    },
    probability: isShown ? forecast.probability : null,
  }
}

/** Finds whether an unusual win rate is high or low, and which leads made it so. */
export async function explainUnusualRate(
  reader: DailyReader,
  { won, decided, expected }: JudgedWinRate,
  nameOf: (member: string, dimension: DriverDimension) => string | null,
  pipelineIds: readonly string[] | null,
): Promise<Pick<JudgedWinRate, 'judgement' | 'origin'>> {
  const isHigh = won > decided * (expected ?? 0)
  const dimensions: { name: DriverDimension; members: RateMember[] }[] = []
  for (const dimension of pipelineIds === null ? DIMENSIONS : (['pipeline_id'] as const)) {
    const [wins, losses] = await Promise.all(
      (['won', 'lost'] as const).map((figure) => reader.read(figure, dimension)),
    )
    const countsOf = (member: string, from: number, to?: number) => {
      const [hits = 0, missed = 0] = [wins, losses].map((each) =>
        total(each?.get(member)?.slice(from, to) ?? []),
      )
      return { hits, of: hits + missed }
    }
    const members = [...new Set([...(wins?.keys() ?? []), ...(losses?.keys() ?? [])])].sort()
    dimensions.push({
      name: dimension,
      members: members.map((member) => ({
        name: member,
        before: countsOf(member, -RATE_DAYS - BEFORE_DAYS, -RATE_DAYS),
        now: countsOf(member, -RATE_DAYS),
      })),
    })
  }
  const judgement = isHigh ? 'high' : 'low'
  const split = chooseRateSplit(dimensions, isHigh)
  if (split === null) return { judgement, origin: null }
  const { dimension, difference, mix, named, rest } = split
  const parts = named.map(({ name, within }) => ({ name: nameOf(name, dimension), within }))
  return { judgement, origin: { dimension, difference, mix, parts, rest } }
}
