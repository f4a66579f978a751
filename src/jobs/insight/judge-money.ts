/** Judges for each currency whether the value won in a report's period is usual. */
import type { PeriodKind } from '../../domain/figures.ts'
import type { JudgedMoney, RangeKind } from '../../domain/insight.ts'
import { judgeMoney, MONEY_DAYS_NEEDED, type MoneyNumbers } from '../../insight/money-range.ts'
import { total } from '../../insight/series.ts'
import type { Db } from '../../store/db/store.ts'
import { listWonCurrencies } from '../../store/insight/daily-count.ts'
import { type DailyReader, sumOf } from './forecast.ts'
import { scaleOf } from './track-record.ts'

/** The maximum number of currencies that are judged. The currencies with wins on the most days are chosen. */
const CURRENCIES_MAX = 3
const WEEK = 7

/**
 * Reads the value won on each day, in each of the currencies that are judged.
 * @param distrusted lists the kinds of published ranges that contained the real amount too rarely
 */
export async function readMoney(
  db: Db,
  { dates, read }: DailyReader,
  timeZone: string,
  isLeftOut: readonly boolean[],
  distrusted: (currency: string) => readonly RangeKind[],
): Promise<MoneyNumbers[]> {
  const currencies = await listWonCurrencies(db, timeZone, CURRENCIES_MAX)
  const won = sumOf([...(await read('won', 'pipeline_id')).values()], dates.length)
  return Promise.all(
    currencies.map(async (currency) => {
      const byPipeline = await read('won_value', 'pipeline_id', currency)
      const money = sumOf([...byPipeline.values()], dates.length)
      return { currency, dates, won, isLeftOut, money, distrusted: distrusted(currency) }
    }),
  )
}

/**
 * Judges whether the value won in the last `length` days is within its usual range. Months are not judged: in
 * tests on past months, their ranges contained the real amount too rarely.
 * @param isExplained true if an annotation says what was different in the period
 */
export function judgePeriodMoney(
  numbers: readonly MoneyNumbers[],
  { kind, length, isExplained }: { kind: PeriodKind; length: number; isExplained: boolean },
): JudgedMoney[] {
  if (kind === 'month' || length > WEEK) return []
  return numbers.map((days) => {
    const { currency, money, distrusted } = days
    const { steps, record, ...judged } = judgeMoney(days, length)
    const isTrusted = judged.isTrusted && !distrusted?.includes(scaleOf(kind))
    const last = steps.at(-1)
    const amount = total(money.slice(-length))
    const leftOut = amount - (last?.money ?? 0)
    const range = last?.forecast?.range95
    const known = money.length - length
    const isReady = known >= MONEY_DAYS_NEEDED
    const isShown = range !== undefined && isTrusted && !isExplained
    return {
      currency,
      amount,
      days: { known, needed: MONEY_DAYS_NEEDED },
      judgement: isShown ? 'usual' : !isReady ? 'learning' : isTrusted ? 'left_out' : 'withheld',
      range: isShown ? { low: range.low + leftOut, high: range.high + leftOut } : null,
      record: record.judged > 0 ? { hits: record.hits95, of: record.judged } : null,
    }
  })
}
