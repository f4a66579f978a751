/**
 * The line that says what the data covers. Where that is not all of the period, the banner above the report says so
 * and why, and here stands only of when the data is.
 */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { Instant } from '../../../model.ts'
import type { Words } from '../../words/en.ts'
import type { Voice } from '../../words/locale-context.ts'

export interface FreshnessView {
  readonly kind: 'freshness'
  /** Whether a sync failed since. */
  readonly isStale: boolean
  readonly text: string
}

/** By error code. */
const REASONS: ReadonlyMap<string, keyof Words['freshness']['reasons']> = new Map([
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
const DAY_MS = 24 * HOUR_MS

export function composeFreshness(figures: ReportFigures, voice: Voice): FreshnessView {
  const { words, dates } = voice
  const { dataAsOf, coversPeriod, lastFailure } = figures.freshness
  const isStale = coversPeriod && lastFailure !== null
  if (dataAsOf === null) return { kind: 'freshness', isStale, text: words.freshness.never }
  const at = dates.recent(dataAsOf)
  const text = isStale
    ? [words.freshness.coveredThenFailed(at), ...explainFailure(figures, voice)].join(' ')
    : words.freshness.fresh(at, ageOf(dataAsOf, voice))
  return { kind: 'freshness', isStale, text }
}

/** Up to when the leads go, where that is not the end of the period. */
export function explainExtent({ freshness, period }: ReportFigures, voice: Voice): string {
  const { words, dates } = voice
  const { dataAsOf } = freshness
  if (dataAsOf === null) return words.freshness.never
  const say = dataAsOf > period.from ? words.freshness.ends : words.freshness.before
  return say(dates.instant(dataAsOf), ageOf(dataAsOf, voice))
}

/** Why they do not go further; empty where the last sync was whole. */
export function explainFailure({ freshness }: ReportFigures, { words, dates }: Voice): string[] {
  const { lastFailure } = freshness
  if (lastFailure === null) return []
  return [
    words.freshness.failed(dates.recent(lastFailure.at), words.freshness.reasons[reasonOf(lastFailure.code)]),
  ]
}

function ageOf(at: Instant, voice: Voice): string {
  return formatAge(Date.parse(voice.now) - Date.parse(at), voice)
}

/** `4 minutes`, `3 hours`, `19 days`: the largest unit, rounded down. */
export function formatAge(ms: number, { words: { duration } }: Voice): string {
  if (ms < MINUTE_MS) return duration.moment
  if (ms < HOUR_MS) return duration.minutes(Math.floor(ms / MINUTE_MS))
  if (ms < 2 * DAY_MS) return duration.hours(Math.floor(ms / HOUR_MS))
  return duration.days(Math.floor(ms / DAY_MS))
}

/** In the reader's words, without addresses; operators have the message itself. */
function reasonOf(code: string): keyof Words['freshness']['reasons'] {
  return REASONS.get(code) ?? 'other'
}
