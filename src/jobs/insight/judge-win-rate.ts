/** Judges win rates (won leads as a share of won and lost leads) of all leads and of each pipeline. */
import type { CountedPipeline, JudgedWinRate } from '../../domain/insight.ts'
import { judgeRate, RATE_NEEDED, type RateNumbers } from '../../insight/win-rate.ts'
import { type DailyReader, sumOf } from './forecast.ts'

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
      periods: { known, needed: RATE_NEEDED },
      judgement: isShown ? 'normal' : forecast === null ? 'learning' : 'withheld',
      range: isShown ? forecast.range95 : null,
      expected: isShown ? forecast.rate : null,
      record: record.judged > 0 ? { hits: record.hits95, of: record.judged } : null,
    },
    probability: isShown ? forecast.probability : null,
  }
}
