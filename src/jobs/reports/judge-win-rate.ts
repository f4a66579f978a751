/** Judges the win rate of a report by the rates of earlier stretches of days, and tells where a change came from. */
import type { DriverDimension, JudgedWinRate, RateOrigin } from '../../domain/insight.ts'
import { splitRate } from '../../insight/rate-drivers.ts'
import { judgeRate, RATE_DAYS, RATE_NEEDED, type RateDays } from '../../insight/win-rate.ts'
import { DIMENSIONS } from '../../store/insight/daily-count.ts'
import { type DailyReader, sumOf } from './tell-ends.ts'

/** The days before the last stretch with which its rate is compared. */
const BEFORE_DAYS = 6 * RATE_DAYS
/** Without a group that stands out, the mix is told if it makes at least this share of the difference. */
const MIX_MIN = 0.5

/** Reads the numbers of days that the win rate of all leads is counted from, without earlier days left out. */
async function readRateDays({ dates, read }: DailyReader, isLeftOut: readonly boolean[]): Promise<RateDays> {
  const [won = [], lost = []] = await Promise.all(
    (['won', 'lost'] as const).map(async (figure) =>
      sumOf([...(await read(figure, 'pipeline_id')).values()], dates.length).map((value, index) =>
        isLeftOut[index] && index < dates.length - RATE_DAYS ? 0 : value,
      ),
    ),
  )
  return { won, lost }
}

/**
 * Judges the win rate.
 * @returns also the chance of a rate as unusual; null if it is not judged
 */
export async function readRate(
  reader: DailyReader,
  isLeftOut: readonly boolean[],
): Promise<{ judged: JudgedWinRate; probability: number | null }> {
  const { steps, record, isTrusted } = judgeRate(await readRateDays(reader, isLeftOut))
  const { won, decided, known, forecast } = steps.at(-1) ?? { won: 0, decided: 0, known: 0, forecast: null }
  const isShown = forecast !== null && isTrusted
  return {
    judged: {
      ...{ won, decided, origin: null, periods: { known, needed: RATE_NEEDED } },
      judgement: isShown ? 'usual' : forecast === null ? 'learning' : 'withheld',
      range: isShown ? forecast.range95 : null,
      expected: isShown ? forecast.rate : null,
      record: record.of > 0 ? { held: record.held95, of: record.of } : null,
    },
    probability: isShown ? forecast.probability : null,
  }
}

/** Tells the direction and the origin of a win rate that is unusual. */
export async function tellUnusualRate(
  reader: DailyReader,
  { won, decided, expected }: JudgedWinRate,
  nameOf: (member: string, dimension: DriverDimension) => string | null,
  pipelineIds: readonly string[] | null,
): Promise<Pick<JudgedWinRate, 'judgement' | 'origin'>> {
  const judgement = won > decided * (expected ?? 0) ? 'high' : 'low'
  const origins: (RateOrigin & { probability: number })[] = []
  for (const dimension of pipelineIds === null ? DIMENSIONS : (['pipeline_id'] as const)) {
    const [wins, losses] = await Promise.all(
      (['won', 'lost'] as const).map((figure) => reader.read(figure, dimension)),
    )
    const countsOf = (member: string, from: number, to?: number) => {
      const [hits = 0, missed = 0] = [wins, losses].map((each) => total(each?.get(member)?.slice(from, to)))
      return { hits, of: hits + missed }
    }
    const members = [...new Set([...(wins?.keys() ?? []), ...(losses?.keys() ?? [])])].sort()
    const split = splitRate(
      members.map((member) => ({
        name: member,
        before: countsOf(member, -RATE_DAYS - BEFORE_DAYS, -RATE_DAYS),
        now: countsOf(member, -RATE_DAYS),
      })),
    )
    if (split === null || members.length < 2) continue
    const { difference, mix, named, rest, probability } = split
    const parts = named.map(({ name, within }) => ({ name: nameOf(name, dimension), within }))
    origins.push({ dimension, difference, mix, parts, rest, probability })
  }
  const [best] = origins
    .filter(({ parts, mix, difference }) => parts.length > 0 || mix / difference >= MIX_MIN)
    .sort((one, other) => one.probability - other.probability || Math.abs(other.mix) - Math.abs(one.mix))
  return { judgement, origin: best === undefined || isOther(best, judgement) ? null : originOf(best) }
}

/** Tells whether the difference from the half-year before has another sign than that from the expected rate. */
function isOther({ difference }: RateOrigin, judgement: 'high' | 'low'): boolean {
  return difference > 0 !== (judgement === 'high')
}

function originOf({ dimension, difference, mix, parts, rest }: RateOrigin): RateOrigin {
  return { dimension, difference, mix, parts, rest }
}

function total(numbers: readonly number[] = []): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
