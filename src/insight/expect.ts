/** Judges the numbers of one report by their past, and decides which are called unusual. */
import type { PeriodKind } from '../domain/figures.ts'
import type { Expectation, LastUnusualDays, LongerPeriod, NormalRange, Shift } from '../domain/insight.ts'
import { type CountDistribution, probabilitiesOf, rangeWith, tailProbability } from './count-distribution.ts'
import { countRecent } from './drivers.ts'
import { findUnusual } from './false-discovery.ts'
import { isTooWide, judgeSeries, NEEDED, type Scale } from './normal-range.ts'
import { isTrusted, recordOf } from './record.ts'
import { type DailyNumbers, groupsOf, seriesOf, total } from './series.ts'

/** The maximum length of a judged period in days. A longer period is judged only if it is a month. */
const DAYS_MAX = 7

/** A pipeline moved as the whole did if its share is less than this many standard deviations off. */
const ALIKE = 2.5

export interface ReportDays {
  readonly kind: PeriodKind
  /** The local dates, in order and without a gap. The last `length` of them are the report's period. */
  readonly dates: readonly string[]
  readonly length: number
  /** The next longer period that ended with the last date or shortly before. */
  readonly longer?: ReportDays | undefined
}

/** A judged number, with the values that `drivers.ts` needs to split its difference by groups. */
export interface Judged {
  readonly expectation: Expectation
  /** The last days that are judged together: the period, or all days of a lasting change. */
  readonly days: number
  /** The number of last days in a row that are all above or all below what was expected. */
  readonly recentDays: number
  /** The expected sum of the last `days` days. */
  readonly expected: number
  /** The variance of this sum, divided by its variance if leads came independently; at least 1. */
  readonly overdispersion: number
  /** The sum of the period's days that are not judged, such as holidays. `expected` does not contain it. */
  readonly leftOut: number
}

interface JudgedReport {
  readonly judged: Judged[]
  readonly isRateUnusual: boolean
  readonly lastUnusual: LastUnusualDays
}

/**
 * Judges all numbers of a report together. Judges nothing if the period is longer than 7 days and is not a
 * month.
 *
 * Reports of one morning must not contradict each other. Therefore a report knows what the reports about longer
 * periods say, and does not tell of a lasting change that these do not see.
 * @param ofRate the chance of a win rate that is at least as unusual as the report's; null if the rate is not
 * judged
 * @param earlier for each number the last local date on which an earlier report called it unusual
 * @returns `lastUnusual` is `earlier`, updated with the numbers that this report calls unusual
 */
export function judgeReport(
  days: ReportDays,
  numbers: readonly DailyNumbers[],
  ofRate: number | null,
  earlier: LastUnusualDays,
): JudgedReport {
  const scale = scaleOf(days)
  if (scale === null) return { judged: [], isRateUnusual: false, lastUnusual: earlier }
  const { longer } = days
  const around = longer && judgeReport(longer, until(longer, numbers), ofRate, earlier)
  const withins = numbers.map((_, index) => longer && longerOf(longer, around?.judged[index]))
  const judged = numbers.map((each) => judgeOne(each, days, scale))
  const found = findUnusual([
    ...judged.map(({ probability, isOfAll }) => ({ probability, isOfAll })),
    // The win rate of 30 days changes slowly. Therefore it gets only the small weight of a single pipeline.
    { probability: ofRate, isOfAll: false },
  ])
  const unusual = found.map((is, index) => {
    const part = judged[index]
    const whole = judged.findIndex(
      (each) => each.isOfAll && each.expectation.figure === part?.expectation.figure,
    )
    if (!is || part === undefined) return is
    if (found[whole] && !part.isOfAll && movedAlike(part, judged[whole] ?? part)) return false
    const { judgement, shift } = part.ifUnusual('').expectation
    const within = withins[index]?.judgement
    return judgement !== 'normal' || shift === null || within === undefined || within === sideOf(shift)
  })
  const day = days.dates.at(-1) ?? ''
  const names = numbers.map(({ figure, pipeline }) => `${figure} ${pipeline?.id ?? ''}`)
  return {
    judged: judged.map(({ ifUnusual, ...each }, index) => {
      const told = unusual[index] ? { ...each, ...ifUnusual(earlier[names[index] ?? '']) } : each
      return { ...told, expectation: { ...told.expectation, within: withins[index] ?? null } }
    }),
    isRateUnusual: around?.isRateUnusual ?? unusual.at(-1) ?? false,
    lastUnusual: {
      ...earlier,
      ...Object.fromEntries(names.filter((_, index) => unusual[index]).map((name) => [name, day])),
    },
  }
}

function until({ dates }: ReportDays, numbers: readonly DailyNumbers[]): DailyNumbers[] {
  return numbers.map((each) => ({ ...each, values: each.values.slice(0, dates.length) }))
}

/** The statement of the report about a longer period on a number; if it has none, that of a still longer one. */
function longerOf({ kind, dates }: ReportDays, judged: Judged | undefined): LongerPeriod | null {
  const { judgement, shift, within = null } = judged?.expectation ?? { judgement: 'learning', shift: null }
  if (judgement !== 'normal' && judgement !== 'high' && judgement !== 'low') return within
  const side = judgement === 'normal' && shift !== null ? sideOf(shift) : judgement
  return { kind: kind === 'month' ? kind : 'week', lastDay: dates.at(-1) ?? '', judgement: side }
}

function sideOf({ actual, expected }: Pick<Shift, 'actual' | 'expected'>): 'high' | 'low' {
  return actual > expected ? 'high' : 'low'
}

function scaleOf({ kind, length }: ReportDays): Scale | null {
  if (kind === 'week' || kind === 'month') return kind
  return length <= DAYS_MAX ? 'day' : null
}

/** A number that was judged by itself, before it is known which numbers of the report are called unusual. */
interface One extends Judged {
  readonly isOfAll: boolean
  readonly probability: number | null
  /** Returns what changes if the number is unusual. `dayBefore`: the day on which a report last called it so. */
  readonly ifUnusual: (dayBefore: string | undefined) => Partial<Judged> & Pick<Judged, 'expectation'>
}

function judgeOne(numbers: DailyNumbers, days: ReportDays, scale: Scale): One {
  const { figure, pipeline } = numbers
  const series = seriesOf(numbers, days.dates, scale)
  const { steps, outlook } = judgeSeries(series)
  const count = scale === 'day' ? days.length : 1
  const first = series.values.length - count
  const last = steps.at(-1)
  const parts = series.values.slice(first)
  const isWhole = parts.length > 0 && parts.every((value) => value !== null)
  const judged = total(parts.map((value) => value ?? 0))
  const actual = total(numbers.values.slice(-days.length))
  const leftOut = isWhole ? actual - judged : 0
  // The judged number must not decide whether its own range is shown.
  const record = recordOf(steps.slice(0, first), series.values)
  const isExplained = numbers.isExplained?.slice(numbers.values.length - days.length, numbers.values.length)
  const isJudged = isWhole && !isExplained?.includes(true)
  const isReady = steps.slice(first).every(({ forecast }) => forecast !== null) && last?.forecast != null
  const expected: CountDistribution =
    count === 1 && last?.forecast ? last.forecast : outlook(first, series.places.slice(first))
  const range =
    count === 1
      ? last?.forecast?.range95
      : rangeWith(probabilitiesOf(expected), last?.forecast?.misses.of95 ?? 0.05)
  const isBelieved = isTrusted(record) && !numbers.distrusted?.includes(scale)
  const isShown = isReady && isJudged && isBelieved
  const anomaly = last?.anomaly ?? null
  const base: Expectation = {
    figure,
    pipeline,
    actual,
    record: record.of > 0 ? record : null,
    shift: null,
    judgement: !isJudged ? 'left_out' : isShown ? 'normal' : isReady ? 'withheld' : 'learning',
    range: isShown && range && !isTooWide(range, expected.mean) ? plus(range, leftOut) : null,
    expected: isShown ? expected.mean + leftOut : null,
    periods: { known: Math.min(...steps.slice(first).map(({ known }) => known)), needed: NEEDED },
    inARow: countRecent(steps, series.values),
  }
  const own = count === 1 ? 1 : tailProbability(expected, judged)
  const overdispersion = Math.max(1, expected.variance / Math.max(expected.mean, 0.05))
  const direction = judged > expected.mean ? 'high' : 'low'
  return {
    expectation: base,
    days: days.length,
    recentDays: countRecent(steps, series.values) * (scale === 'day' ? 1 : days.length),
    expected: expected.mean,
    overdispersion,
    leftOut,
    isOfAll: pipeline === null,
    probability: isShown && anomaly ? Math.min(own, anomaly.probability) : null,
    ifUnusual(dayBefore) {
      const isOfWindow = anomaly !== null && anomaly.length > count && anomaly.probability < own
      if (!isOfWindow) return { expectation: { ...base, judgement: direction } }
      const found = shiftOf(anomaly, days, scale)
      const shift = { ...found, isNew: dayBefore === undefined || dayBefore < found.since }
      const isOutside = range !== undefined && (judged < range.low || judged > range.high)
      return {
        expectation: {
          ...base,
          judgement: isOutside ? direction : 'normal',
          shift: isOutside ? null : shift,
        },
        ...(isOutside ? {} : { days: shift.days, expected: anomaly.expected, leftOut: 0 }),
      }
    },
  }
}

/** Returns whether a pipeline has about its normal share of a whole that is unusual in the same direction. */
function movedAlike(part: Judged, whole: Judged): boolean {
  const [own, all] = [part, whole].map(({ expectation, leftOut }) => expectation.actual - leftOut)
  const share = part.expected / Math.max(whole.expected, part.expected)
  const isSameSide = Math.sign((own ?? 0) - part.expected) === Math.sign((all ?? 0) - whole.expected)
  const deviation = Math.sqrt((all ?? 0) * share * (1 - share) * part.overdispersion)
  return isSameSide && Math.abs((own ?? 0) - (all ?? 0) * share) <= ALIKE * deviation + 1
}

function shiftOf(
  { length, actual, expected }: { length: number; actual: number; expected: number },
  { dates }: ReportDays,
  scale: Scale,
): Omit<Shift, 'isNew'> {
  const first = groupsOf(dates, scale).at(-length)?.from ?? 0
  return { since: dates[first] ?? '', days: dates.length - first, actual, expected }
}

/** Adds the sum of unjudged days to a range, so that it can be compared with the whole period. */
function plus({ low, high }: NormalRange, leftOut: number): NormalRange {
  return { low: low + leftOut, high: high + leftOut }
}
