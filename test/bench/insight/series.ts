/** The kinds of series that the claims are tried on. In none of them anything changes, unless a shift is planted. */
import type { Numbers } from '../../support/reports/daily-numbers.ts'

export interface Kind {
  readonly name: string
  readonly given: Omit<Numbers, 'days' | 'seed'>
  /** Tells whether a day is odd by itself, such as a holiday that the program does not know of. */
  readonly isOdd?: (day: number) => boolean
}

/** Ten holidays a year, on different weekdays. */
const HOLIDAYS = new Set([5, 92, 97, 120, 141, 152, 245, 305, 358, 359])
const isHoliday = (day: number) => HOLIDAYS.has(day % 365)

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
]
