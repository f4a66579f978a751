/** How much of its period a report can vouch for, and the line that says so. */
import type { DailyFigures } from '../model.ts'
import { words } from './messages.ts'
import { formatDuration, formatInstant, formatRecent, nameDay, type Reader } from './moment.ts'
import { oneLine } from './text.ts'

/**
 * `whole`: every number stands. `part`: the data ends inside the period, or some of it was read before a sync
 * broke off, so counts are lower bounds. `none`: nothing of the period has been read.
 */
export type Coverage = 'whole' | 'part' | 'none'

export interface FreshnessView {
  readonly isStale: boolean
  readonly text: string
}

const MESSAGE_LENGTH = 160

export function coverageOf(figures: DailyFigures): Coverage {
  const { coversPeriod, dataAsOf } = figures.freshness
  if (coversPeriod) return 'whole'
  const endsInside = dataAsOf !== null && dataAsOf > figures.period.from
  return endsInside || figures.newLeads.current + figures.won.current > 0 ? 'part' : 'none'
}

/** Whether nothing at all is known of the time before, so that there is nothing to compare with. */
export function isFirstDay({ newLeads, won, winRate, openValue }: DailyFigures): boolean {
  return newLeads.prior + won.prior + winRate.prior.whole + openValue.prior.length === 0
}

export function composeFreshness(figures: DailyFigures, reader: Reader): FreshnessView {
  const { lastFailure, coversPeriod } = figures.freshness
  const failure = lastFailure
    ? words.freshness.failed(formatRecent(lastFailure.at, reader), sentence(lastFailure.message))
    : null
  const text = [extent(figures, reader), failure].filter((part) => part !== null).join(' ')
  return { isStale: !coversPeriod || lastFailure !== null, text }
}

function extent(figures: DailyFigures, reader: Reader): string {
  const { dataAsOf, coversPeriod, lastFailure } = figures.freshness
  if (dataAsOf === null) return words.freshness.never
  const age = formatDuration(Date.parse(reader.now) - Date.parse(dataAsOf))
  if (!coversPeriod) {
    const say = dataAsOf > figures.period.from ? words.freshness.ends : words.freshness.before
    return say(formatInstant(dataAsOf, reader), age)
  }
  return lastFailure
    ? words.freshness.coveredThenFailed(formatRecent(dataAsOf, reader), nameDay(figures.period).weekday)
    : words.freshness.fresh(formatRecent(dataAsOf, reader), age)
}

function sentence(message: string): string {
  const line = oneLine(message, MESSAGE_LENGTH)
  return /[.!?…]$/.test(line) ? line : `${line}.`
}
