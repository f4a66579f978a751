/** What charts write, in a reader's language. They show no names of the data: Inter lacks the letters of many. */
import type { Voice } from '../voice.ts'
import { writeMean } from './mean.ts'

export interface ChartLabels {
  /** At the end of a line, with its last mean: `New 50`. */
  readonly newLeads: (mean: number) => string
  readonly won: (mean: number) => string
  /** Of an axis that goes up to `highest`, all in one manner: `20`, `1.5m` */
  readonly tick: (count: number, highest: number) => string
  /** Of a local date, `2026-09-01`: `1 September`, with no dot of a short form at its end */
  readonly day: (day: string) => string
}

/** From here on numbers are written short: a line's end has no room for `1,284,000`. */
const LARGE = 100_000

export function chartLabels({ locale, words, numbers }: Voice): ChartLabels {
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 })
  const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' })
  const mean = (value: number) => (value < LARGE ? writeMean(value, numbers) : short.format(value))
  return {
    newLeads: (value) => words.trend.newLeads(mean(value)),
    won: (value) => words.trend.won(mean(value)),
    tick: (count, highest) => (highest < LARGE ? numbers.count(count) : short.format(count)),
    day: (day) => date.format(Date.parse(day)),
  }
}
