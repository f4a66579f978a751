/** Instants as the pages of the window tell them: on the clock of the installation, with what machines read of them. */
import { tellSpan } from '../../jobs/health/installation.ts'
import type { Instant } from '../../model.ts'
import { datesOf } from '../../report/dates.ts'
import { LOCALE } from './numbers.ts'

/** What `{{> window-time}}` shows. */
export interface Moment {
  readonly iso: Instant
  readonly text: string
}

export interface Clock {
  readonly now: Date
  /** `06:00` today, `Fri 20 Nov, 06:00` otherwise. */
  readonly at: Tell
  /** `4 min ago` */
  readonly ago: Tell
  /** `in 3 h` */
  readonly until: Tell
  /** A sentence of the program whose instants, `2026-11-20 07:00 UTC`, are on this clock as `at` has them. */
  readonly within: (sentence: string) => string
}

/** As `tellInstant` writes it, and as machines do. */
const INSTANT = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?: UTC|:\d\d(?:\.\d+)?Z)/g

/** What there is not stays so. */
interface Tell {
  (instant: Instant): Moment
  (instant: Instant | null): Moment | null
}

export function clockOf(timeZone: string, now: Date): Clock {
  const { recent } = datesOf(LOCALE, timeZone, now.toISOString())
  const away = (instant: Instant) => tellSpan(now.getTime() - Date.parse(instant))
  return {
    now,
    at: telling(recent),
    ago: telling((instant) => `${away(instant)} ago`),
    until: telling((instant) => `in ${away(instant)}`),
    within: (sentence) =>
      sentence.replace(INSTANT, (_, day: string, time: string) => recent(`${day}T${time}:00.000Z`)),
  }
}

function telling(write: (instant: Instant) => string): Tell {
  function tell(instant: Instant): Moment
  function tell(instant: Instant | null): Moment | null
  function tell(instant: Instant | null): Moment | null {
    return instant === null ? null : { iso: instant, text: write(instant) }
  }
  return tell
}
