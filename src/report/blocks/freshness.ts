/** The line that says what the data covers, and why it does not cover more. */
import type { ReportFigures } from '../../figures.ts'
import { oneLine } from '../text.ts'
import type { Voice } from '../voice.ts'

export interface FreshnessView {
  readonly kind: 'freshness'
  readonly isStale: boolean
  readonly text: string
}

const MESSAGE_LENGTH = 160
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export function composeFreshness(figures: ReportFigures, voice: Voice): FreshnessView {
  const { lastFailure, coversPeriod } = figures.freshness
  const failure = lastFailure
    ? voice.words.freshness.failed(voice.dates.recent(lastFailure.at), sentence(lastFailure.message))
    : null
  const text = [extent(figures, voice), failure].filter((part) => part !== null).join(' ')
  return { kind: 'freshness', isStale: !coversPeriod || lastFailure !== null, text }
}

function extent({ freshness, period }: ReportFigures, voice: Voice): string {
  const { words, dates } = voice
  const { dataAsOf, coversPeriod, lastFailure } = freshness
  if (dataAsOf === null) return words.freshness.never
  const age = formatAge(Date.parse(voice.now) - Date.parse(dataAsOf), voice)
  if (!coversPeriod) {
    const say = dataAsOf > period.from ? words.freshness.ends : words.freshness.before
    return say(dates.instant(dataAsOf), age)
  }
  return lastFailure
    ? words.freshness.coveredThenFailed(dates.recent(dataAsOf))
    : words.freshness.fresh(dates.recent(dataAsOf), age)
}

/** `4 minutes`, `3 hours`, `19 days`: the largest unit, rounded down. */
export function formatAge(ms: number, { words: { duration } }: Voice): string {
  if (ms < MINUTE_MS) return duration.moment
  if (ms < HOUR_MS) return duration.minutes(Math.floor(ms / MINUTE_MS))
  if (ms < 2 * DAY_MS) return duration.hours(Math.floor(ms / HOUR_MS))
  return duration.days(Math.floor(ms / DAY_MS))
}

function sentence(message: string): string {
  const line = oneLine(message, MESSAGE_LENGTH)
  return /[.!?…]$/.test(line) ? line : `${line}.`
}
