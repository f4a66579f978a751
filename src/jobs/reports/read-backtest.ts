/** Tests the claims of reports on the past days that reports rest on, at most three years. */
import type { Instant } from '../../domain/model.ts'
import { dayBefore } from '../../domain/period.ts'
import { type Backtest, backtest } from '../../insight/backtest.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { listAnnotations } from '../../store/insight/annotation.ts'
import {
  findLastCountedDay,
  listCountedDays,
  listNames,
  refreshDailyCounts,
} from '../../store/insight/daily-count.ts'
import { readerOf, readNumbers } from './judge-numbers.ts'

export interface BacktestRequest {
  /** The time up to which all leads have been read. */
  readonly asOf: Instant
  readonly timeZone: string
  /** The pipelines of the report; null for all. */
  readonly pipelineIds: readonly string[] | null
  /** Local dates of which nothing is learned. */
  readonly holidays: readonly string[]
}

/** The dates and numbers that are tested. */
export type Tested = Parameters<typeof backtest>

/** Brings the counts by day up to date and tests all claims of a report on them. */
export async function readBacktest(
  store: Pick<Store, 'db' | 'write'>,
  request: BacktestRequest,
  now: Date,
): Promise<Backtest> {
  const { asOf, timeZone } = request
  const days = await listCountedDays(store.db, dayBefore(new Date(asOf), timeZone).to, timeZone)
  await refreshDailyCounts(store, days, now)
  return backtest(...(await readTested(store, request)))
}

/** Reads the counts by day as they were last brought up to date. */
export async function readTested(
  store: Pick<Store, 'db'>,
  { asOf, timeZone, pipelineIds, holidays }: BacktestRequest,
): Promise<Tested> {
  const dates = await listTestedDates(store.db, asOf, timeZone)
  const reader = readerOf(store, { dates, period: { timeZone }, pipelineIds })
  const leftOut = { annotations: await listAnnotations(store.db), holidays, pipelineIds }
  return [dates, await readNumbers(reader, await listNames(store.db), leftOut), holidays]
}

/** Lists the local dates up to `asOf` that are counted. */
export async function listTestedDates(db: Db, asOf: Instant, timeZone: string): Promise<string[]> {
  const last = await findLastCountedDay(db, timeZone)
  if (last === null) return []
  const days = await listCountedDays(db, dayBefore(new Date(asOf), timeZone).to, timeZone)
  return days.map(({ date }) => date).filter((date) => date <= last)
}
