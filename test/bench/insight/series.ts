/**
 * The kinds of series that the claims are tried on. In none of them anything changes, unless a shift is planted.
 * The last ones are as public series are: rides of a bike rental, births, stolen vehicles, commits.
 */
import type { Numbers } from '../../support/reports/daily-numbers.ts'

export interface Kind {
  readonly name: string
  readonly given: Omit<Numbers, 'days' | 'seed'>
  /** Tells whether a day is odd by itself, such as a holiday that the program does not know of. */
  readonly isOdd?: (day: number) => boolean
  /** True if the level really changes for weeks, so that a headline about it is not false. */
  readonly isChanging?: true
}

/** Ten holidays a year, on different weekdays. */
const HOLIDAYS = new Set([5, 92, 97, 120, 141, 152, 245, 305, 358, 359])
const isHoliday = (day: number) => HOLIDAYS.has(day % 365)
const isOneOf15 = (day: number) => isHoliday(day) || [30, 75, 180, 215, 290].includes(day % 365)
/** The first day is a Monday. */
const dateOf = (day: number) => new Date(Date.UTC(2024, 0, 1 + day))
const isChristmas = (day: number) => dateOf(day).toISOString().slice(5, 10) >= '12-23'

export const KINDS: readonly Kind[] = [
  ...[0.6, 3, 12, 40, 300].map((mean) => ({ name: `independent, ${mean} a day`, given: { mean } })),
  ...[2, 3].flatMap((overdispersion) =>
    [3, 12, 40, 300].map((mean) => ({
      name: `${overdispersion} times the variance, ${mean} a day`,
      given: { mean, overdispersion },
    })),
  ),
  {
    name: 'no leads on weekends, 12 a day',
    given: { mean: 12, week: [1.4, 1.5, 1.5, 1.4, 1.2, 0, 0] },
  },
  { name: 'every weekday alike, 12 a day', given: { mean: 12, week: [1, 1, 1, 1, 1, 1, 1] } },
  {
    name: 'grows by half in a year, 12 a day',
    given: { mean: 12, times: (day) => 1.5 ** (day / 365) },
  },
  {
    name: 'falls by a third in a year, 40 a day',
    given: { mean: 40, times: (day) => (2 / 3) ** (day / 365) },
  },
  {
    name: 'holidays, 40 a day',
    given: { mean: 40, times: (day) => (isHoliday(day) ? 0.1 : 1) },
    isOdd: isHoliday,
  },
  {
    name: '15 holidays a year, 25 a day',
    given: { mean: 25, times: (day) => (isOneOf15(day) ? 0.1 : 1) },
    isOdd: isOneOf15,
  },
  {
    name: 'yearly season of 30 %, 40 a day',
    given: { mean: 40, times: (day) => 1 + 0.3 * Math.sin((2 * Math.PI * day) / 365) },
  },
  {
    name: 'quiet Christmas and August, 25 a day',
    given: { mean: 25, times: (day) => (isChristmas(day) ? 0.2 : dateOf(day).getUTCMonth() === 7 ? 0.7 : 1) },
    isOdd: isChristmas,
  },
  {
    name: 'autocorrelated, 40 a day',
    given: { mean: 40, moves: { keeps: 0.97, step: 0.06 } },
    isChanging: true,
  },
  { name: 'level that wanders, 12 a day', given: { mean: 12, moves: { keeps: 1, step: 0.02 } } },
  { name: 'nothing on 30 % of days, 20 a day', given: { mean: 28, zeros: 0.3 } },
  {
    name: 'twice as many on the last three days of a month, 12 a day',
    given: { mean: 12, times: (day) => (dateOf(day + 3).getUTCDate() <= 3 ? 2 : 1) },
  },
]
