import { expect, it } from 'vitest'
import type { PeriodKind } from '../../../src/domain/figures.ts'
import { periodBetween } from '../../../src/domain/period.ts'
import { datesOf, namePeriod } from '../../../src/report/words/dates.ts'
import { localeContextOf } from '../../support/report.ts'

const ZONE = 'Europe/Berlin'
const INSTANTS = [
  '2026-11-20T13:10',
  '2025-12-31T23:30',
  '2025-12-31T22:30',
  '2026-11-20T23:01',
  '2026-11-20T22:59',
]

const PERIODS: readonly (readonly [PeriodKind, from: string, to: string])[] = [
  ['day', '2026-11-20', '2026-11-21'],
  ['working_day', '2026-11-20', '2026-11-21'],
  ['working_day', '2026-11-20', '2026-11-23'],
  ['week', '2026-11-16', '2026-11-23'],
  ['week', '2026-12-28', '2027-01-04'],
  ['week', '2027-01-04', '2027-01-11'],
  ['week', '2024-12-30', '2025-01-06'],
  // From Sunday: the number is that of the ISO week of its Monday.
  ['week', '2026-11-15', '2026-11-22'],
  ['week', '2027-01-03', '2027-01-10'],
  ['month', '2026-11-01', '2026-12-01'],
  ['quarter', '2026-07-01', '2026-10-01'],
]

it.each(['en-GB', 'de-DE'])('instants and periods are named on the clock of the reader, %s', async (tag) => {
  const { instant, recent } = datesOf(tag, ZONE, '2026-11-21T05:04:00.000Z')
  const { words } = localeContextOf({ locale: tag })
  const instants = INSTANTS.map((at) => [at, instant(`${at}:00.000Z`), recent(`${at}:00.000Z`)].join(' | '))
  const periods = PERIODS.map(([kind, from, to]) => {
    const names = { ...namePeriod(tag, kind, periodBetween(from, to, ZONE)) }
    return [kind, from, words('period.long', names), JSON.stringify(names)].join(' | ')
  })
  const text = [...instants, ...periods].join('\n').replace(/[\u2009\u202f\u00a0]/g, ' ')
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/dates-${tag}.txt`)
})
