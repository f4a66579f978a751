/** The freshness block is one line with the age of the data. The banner explains missing data. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { Instant } from '../../../domain/model.ts'
import { DAY_MS } from '../../../schedule/zone.ts'
import type { LocaleContext } from '../../words/locale-context.ts'

type Reason = 'unreachable' | 'refused' | 'deferred' | 'unexpected' | 'stopped' | 'other'

// The reasons that recipients see for a failed sync, by error code. A code that is missing here gets the
// reason `other`.
const REASONS: ReadonlyMap<string, Reason> = new Map([
  ['api_unreachable', 'unreachable'],
  ['api_unauthorized', 'refused'],
  ['api_forbidden', 'refused'],
  ['api_deferred', 'deferred'],
  ['api_unexpected', 'unexpected'],
  ['api_rejected', 'unexpected'],
  ['api_not_found', 'unexpected'],
  ['run_interrupted', 'stopped'],
])
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export function composeFreshness(figures: ReportFigures, locale: LocaleContext) {
  const { words, dates } = locale
  const { dataAsOf, coversPeriod, lastFailure } = figures.freshness
  const isStale = coversPeriod && lastFailure !== null
  if (dataAsOf === null) return { kind: 'freshness' as const, isStale, text: words('freshness.never') }
  const at = dates.recent(dataAsOf)
  const text = isStale
    ? [words('freshness.coveredThenFailed', { at }), ...explainFailure(figures, locale)].join(' ')
    : words('freshness.fresh', { at, age: ageOf(dataAsOf, locale) })
  return { kind: 'freshness' as const, isStale, text }
}

/** Says up to which time leads were read, if the data ends before the period does. */
export function explainExtent({ freshness, period }: ReportFigures, locale: LocaleContext): string {
  const { words, dates } = locale
  const { dataAsOf } = freshness
  if (dataAsOf === null) return words('freshness.never')
  const key = dataAsOf > period.from ? 'freshness.ends' : 'freshness.before'
  return words(key, { at: dates.instant(dataAsOf), age: ageOf(dataAsOf, locale) })
}

/** Returns no sentence if no sync has failed since the data was read. */
export function explainFailure({ freshness }: ReportFigures, { words, dates }: LocaleContext): string[] {
  const { lastFailure } = freshness
  if (lastFailure === null) return []
  return [
    words('freshness.failed', {
      at: dates.recent(lastFailure.at),
      reason: words(`freshness.reasons.${REASONS.get(lastFailure.code) ?? 'other'}`),
    }),
  ]
}

function ageOf(at: Instant, locale: LocaleContext): string {
  return formatAge(Date.parse(locale.now) - Date.parse(at), locale)
}

/** Formats an age in its largest unit, rounded down: `4 minutes`, `3 hours`, `19 days`. */
export function formatAge(ms: number, { words }: LocaleContext): string {
  if (ms < MINUTE_MS) return words('duration.moment')
  if (ms < HOUR_MS) return words('duration.minutes', { n: Math.floor(ms / MINUTE_MS) })
  if (ms < 2 * DAY_MS) return words('duration.hours', { n: Math.floor(ms / HOUR_MS) })
  return words('days', { n: Math.floor(ms / DAY_MS) })
}
