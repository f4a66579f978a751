/**
 * Forecasts the total of a month, quarter or year from its days so far. Uses the method that was most exact
 * in earlier months, quarters or years. The width of the range comes from the errors of earlier forecasts
 * that were made after the same number of days. While there are none, it comes from the spread of the days
 * and from a level that moves.
 */
import type { NormalRange, RangeRecord } from '../domain/insight.ts'
import { type CountDistribution, probabilitiesOf, rangeWith } from './count-distribution.ts'
import { correctedMiss, isWithin, judgeSeries } from './normal-range.ts'
import { isTrusted } from './record.ts'
import { type Span, total } from './series.ts'

export interface CountedDays {
  readonly values: readonly number[]
  readonly places: readonly number[]
  /** True for each day from which forecasts do not learn; by default they learn from all days. */
  readonly isLeftOut?: readonly boolean[]
  /** Ends with the last day of the present span; by default there is no holiday. */
  readonly isHoliday?: readonly boolean[]
  /** The shares that yearly dips leave of the days up to the end of the present span; 1 by default. */
  readonly shares?: readonly number[]
}

interface EndForecast {
  readonly expected: number
  readonly range: NormalRange
  /** The number of earlier spans with such a range, and how many of these ranges held; `of` may be 0. */
  readonly record: RangeRecord
  readonly method: Method
}

/**
 * The method that estimates the remaining days. `line`: the mean of the span so far. `profile`: the recent
 * level and the weekdays. `trailing`: the mean of the last 28 days. `same_point`: `profile`, corrected by its
 * errors in earlier spans. `same_quarter_month`: the same, but only every third earlier span counts.
 */
type Method = 'line' | 'profile' | 'trailing' | 'same_point' | 'same_quarter_month'
const METHODS: readonly Method[] = ['profile', 'line', 'trailing', 'same_point', 'same_quarter_month']

const MISS = 0.2
const TRAILING_DAYS = 28
/** The minimum number of earlier spans before another method than `profile` may be chosen. */
const SPANS_MIN = 3
/** The number of last spans from which a correction is learned. */
const LAST_SPANS = 12
/** The number of invented leads that keep a correction small while few real leads are known. */
const CORRECTION_PRIOR = 5
/** Another method replaces `profile` if its errors are below this share of the errors of `profile`. */
const CLEARLY = 0.97
/** The number of days since the first lead before which nothing is forecast. */
const DAYS_MIN = 14
/** The share of itself by which the level is assumed to move in a day; in four days it moves twice as far. */
const DRIFT = 0.03
/** After this many days, the level is assumed to move back as often as on. */
const DRIFT_DAYS = 30
/** The spread that the model predicts counts as much as this many earlier errors. */
const ERROR_PRIOR = 4
/** The weight of an error falls by this factor with each later error, whose method was chosen better. */
const FADE = 0.95
/** A range has at least this share of the predicted variance, and an error counts at most as this multiple. */
const [LEAST, MOST] = [0.25, 25]
/** The step by which a range is corrected after each hit or miss. */
const STEP = 0.2

/**
 * Forecasts the total of the present span. Left-out days count in the total, but the forecast learns nothing
 * from them. A future holiday is expected to bring the same share of a normal day as earlier holidays did.
 * @param earlier the complete spans of the same kind before, the oldest first
 * @param now the present span, which may end after the last known day
 * @returns null in the first two weeks, and if the ranges of earlier spans held clearly too rarely
 */
export function forecastEnd(series: CountedDays, earlier: readonly Span[], now: Span): EndForecast | null {
  const { isLeftOut = [], isHoliday = [], shares = [] } = series
  const isAside = (day: number) => isLeftOut[day] === true || isHoliday[day] === true
  const known = series.values.map((value, day) => (isAside(day) ? null : value))
  const judged = judgeSeries({ values: known, places: series.places, shares, scale: 'day' })
  const sums = [0]
  for (const value of known) sums.push((sums.at(-1) ?? 0) + (value ?? 0))
  const sumOf = (from: number, to: number) => (sums[to] ?? sums.at(-1) ?? 0) - (sums[from] ?? 0)
  const daysBefore = [0]
  for (let day = 0; day < Math.max(now.to, known.length); day++)
    daysBefore.push((daysBefore[day] ?? 0) + (isAside(day) ? 0 : 1))
  const daysOf = (from: number, to: number) => (daysBefore[to] ?? 0) - (daysBefore[from] ?? 0)
  const placeOf = (index: number) => {
    const cycle = Math.max(...series.places) + 1
    return series.places[index] ?? ((series.places.at(-1) ?? 0) + index - series.places.length + 1) % cycle
  }

  const outlooks = new Map<number, CountDistribution>()
  const outlookOf = (at: number, to: number): CountDistribution => {
    const key = at * 1000 + to - at
    const known = outlooks.get(key)
    if (known) return known
    const ahead = Array.from({ length: to - at }, (_, index) => at + index).filter((day) => !isAside(day))
    const plain = judged.outlook(at, ahead.map(placeOf))
    const share = total(ahead.map((day) => shares[day] ?? 1)) / Math.max(1, ahead.length)
    const mean = plain.mean * share
    const moved = (DRIFT * mean) ** 2 * Math.min(DRIFT_DAYS, ahead.length)
    const outlook = { mean, variance: plain.variance * share + moved }
    outlooks.set(key, outlook)
    return outlook
  }

  /** Estimates by each method how many leads will come from the day `at` to the end of a span. */
  function estimateRest(
    { from, to }: Span,
    at: number,
    past: readonly Span[],
  ): Record<Method, CountDistribution | null> & { profile: CountDistribution } {
    const profile = outlookOf(at, to)
    const soFar = sumOf(from, at)
    const scaled = (mean: number): CountDistribution => ({
      mean: Math.max(mean, 0.02),
      variance: profile.mean === 0 ? 0 : (Math.max(mean, 0.02) * profile.variance) / profile.mean,
    })
    const back = Math.min(TRAILING_DAYS, at)
    /** Returns the real rest of earlier spans, divided by the rest that `profile` had forecast. */
    const correction = (spans: readonly Span[]): number | null => {
      let [came, wanted] = [0, 0]
      for (const span of spans) {
        const point = Math.max(span.from, span.to - (to - at))
        if ((judged.steps[point]?.known ?? 0) < 1) continue
        came += sumOf(point, span.to)
        wanted += outlookOf(point, span.to).mean
      }
      // The invented leads prevent a large correction if the numbers are small.
      return spans.length < SPANS_MIN || wanted === 0
        ? null
        : (came + CORRECTION_PRIOR) / (wanted + CORRECTION_PRIOR)
    }
    const corrected = (spans: readonly Span[]): CountDistribution | null => {
      const factor = correction(spans)
      return factor === null ? null : scaled(profile.mean * factor)
    }
    return {
      profile,
      line: daysOf(from, at) > 0 ? scaled((soFar / daysOf(from, at)) * daysOf(at, to)) : null,
      trailing:
        daysOf(at - back, at) > 0
          ? scaled((sumOf(at - back, at) / daysOf(at - back, at)) * daysOf(at, to))
          : null,
      same_point: corrected(past.slice(-LAST_SPANS)),
      same_quarter_month: corrected(past.filter((_, index) => (past.length - index) % 3 === 0)),
    }
  }

  const point = series.values.length - now.from
  const errors = new Map(METHODS.map((method) => [method, { sum: 0, ofProfile: 0, count: 0 }]))
  const squares = { sum: 0, count: 0 }
  const record = { hits: 0, of: 0 }
  let miss = MISS
  const rangeAt = (soFar: number, { mean, variance }: CountDistribution): NormalRange => {
    const factor = Math.max(LEAST, (squares.sum + ERROR_PRIOR) / (squares.count + ERROR_PRIOR))
    const range = rangeWith(probabilitiesOf({ mean, variance: Math.max(mean, variance * factor) }), miss)
    return { low: soFar + range.low, high: soFar + range.high }
  }
  for (const [index, span] of earlier.entries()) {
    const past = earlier.slice(0, index)
    const length = span.to - span.from
    const at = span.from + Math.min(Math.max(point, 0), length - 1)
    const whole = sumOf(span.from, span.to)
    // The forecasts 3 days earlier and later are tested too, because more errors make the range more
    // reliable.
    for (const day of [at - 3, at, at + 3]) {
      if (day < span.from + 1 || day >= span.to || (judged.steps[day]?.known ?? 0) < 1) continue
      if (daysOf(day, span.to) === 0) continue
      const estimates = estimateRest(span, day, past)
      const soFar = sumOf(span.from, day)
      const chosen = estimates[chooseMethod(errors)] ?? estimates.profile
      if (chosen === null) continue
      const isHit = isWithin(rangeAt(soFar, chosen), whole)
      if (day === at) record.of++
      if (day === at && isHit) record.hits++
      miss = correctedMiss(miss, MISS, isHit, STEP)
      squares.sum = squares.sum * FADE + Math.min(MOST, (whole - soFar - chosen.mean) ** 2 / chosen.variance)
      squares.count = squares.count * FADE + 1
      for (const method of METHODS) {
        const each = estimates[method]
        const error = errors.get(method)
        if (each === null || error === undefined) continue
        error.sum += Math.abs(whole - soFar - each.mean)
        error.ofProfile += Math.abs(whole - soFar - estimates.profile.mean)
        error.count++
      }
    }
  }
  const first = known.findIndex((value) => value !== null && value > 0)
  if (first < 0 || known.length - first < DAYS_MIN || !isTrusted(record, 1 - MISS)) return null
  const method = chooseMethod(errors)
  const at = series.values.length
  const estimates = estimateRest(now, at, earlier)
  const chosen = estimates[method] ?? estimates.profile
  if (chosen === null) return null
  const soFar = total(series.values.slice(now.from))
  if (now.to <= at) return { expected: soFar, range: { low: soFar, high: soFar }, record, method }
  const onHolidays = holidaysAhead()
  const more = 1 + onHolidays / Math.max(chosen.mean, 0.02)
  const rest = { mean: Math.max(chosen.mean + onHolidays, 0.02), variance: chosen.variance * more }
  return { expected: soFar + rest.mean, range: rangeAt(soFar, rest), record, method }

  /** Returns the number of leads that the future holidays of the present span are expected to bring. */
  function holidaysAhead(): number {
    const ahead = isHoliday.flatMap((is, day) => (is && day >= at && day < now.to ? [placeOf(day)] : []))
    let [came, normal] = [CORRECTION_PRIOR, CORRECTION_PRIOR]
    for (const [day, is] of isHoliday.slice(0, at).entries()) {
      if (!is || (judged.steps[day]?.known ?? 0) < 1) continue
      came += series.values[day] ?? 0
      normal += judged.outlook(day, [placeOf(day)]).mean
    }
    return (judged.outlook(at, ahead).mean * came) / normal
  }
}

interface Errors {
  readonly sum: number
  /** The sum of the errors of the method `profile` on the same days. */
  readonly ofProfile: number
  readonly count: number
}

/** Returns the method whose errors are furthest below those of `profile`, unless none is clearly better. */
function chooseMethod(errors: ReadonlyMap<Method, Errors>): Method {
  let best: { method: Method; share: number } = { method: 'profile', share: CLEARLY }
  for (const [method, { sum, ofProfile, count }] of errors) {
    if (count >= 3 * SPANS_MIN && sum < best.share * ofProfile) best = { method, share: sum / ofProfile }
  }
  return best.method
}
