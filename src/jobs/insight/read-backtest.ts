/**
 * Tests how often the statements of reports would have been right on the days of at most the last three
 * years. The dashboard keeps the results in memory. After a sync or a new annotation, the next visit of the
 * page repeats the test. The test runs in a child process, because it can take seconds.
 */
import type { PublishedRecord } from '../../domain/insight.ts'
import type { Instant } from '../../domain/model.ts'
import { dayBefore } from '../../domain/period.ts'
import { errorText } from '../../errors.ts'
import type { Backtest } from '../../insight/backtest.ts'
import { backtest } from '../../insight/backtest.ts'
import type { Log } from '../../log.ts'
import type { WeekStart } from '../../schedule/zone.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { askChild, programFile } from '../../store/db/subprocess.ts'
import { listAnnotations } from '../../store/insight/annotation.ts'
import {
  findLastCountedDay,
  listCountedDays,
  listNames,
  refreshDailyCounts,
} from '../../store/insight/daily-count.ts'
import { recordOutcomes } from '../../store/insight/published-range.ts'
import { testStallThresholds } from '../../store/insight/stall-test.ts'
import { findLastWholeRun } from '../../store/sync/sync-run.ts'
import { readMoney } from './judge-money.ts'
import { daysLeftOut, moneyDistrust, rateDistrust, readerOf, readNumbers } from './judge-numbers.ts'
import { readRates } from './judge-win-rate.ts'
import { readTrackRecord, type TrackRecord } from './track-record.ts'
import { readShares, refreshThresholds, type TestedShare } from './winner-shares.ts'

interface BacktestRequest {
  /** The time up to which all leads have been read. */
  readonly asOf: Instant
  readonly timeZone: string
  /** The pipelines of the report; null for all. */
  readonly pipelineIds: readonly string[] | null
  /** The local dates that are left out when the usual numbers are computed. */
  readonly holidays: readonly string[]
  readonly weekStarts: WeekStart
}

/** The arguments of `backtest`: the dates and numbers that are tested. */
type Tested = Parameters<typeof backtest>

/** The results of the test, and how often the ranges that reports published were right. */
export interface TestedRecord extends Backtest {
  readonly published: readonly PublishedRecord[]
  readonly shares: readonly TestedShare[]
}

/** Updates the counts by day, then tests all statements of a report with these counts. */
export async function readBacktest(
  store: Pick<Store, 'db' | 'write'>,
  request: BacktestRequest,
  now: Date,
): Promise<TestedRecord> {
  const { asOf, timeZone, pipelineIds } = request
  const days = await listCountedDays(store.db, dayBefore(new Date(asOf), timeZone).to, timeZone)
  await refreshDailyCounts(store, days, now)
  const dates = await listTestedDates(store.db, asOf, timeZone)
  await recordOutcomes(store, timeZone, dates)
  const trackRecord = await readTrackRecord(store.db, timeZone, dates)
  const isWithin = ({ pipelineIds: ids }: PublishedRecord) =>
    pipelineIds === null || ids?.every((id) => pipelineIds.includes(id))
  await testStallThresholds(store, new Date(asOf))
  await refreshThresholds(store, now)
  return {
    ...backtest(...(await readTested(store, request, trackRecord))),
    published: trackRecord.records.filter(isWithin),
    shares: await readShares(store.db, asOf),
  }
}

/** Reads the stored counts by day without updating them. */
async function readTested(
  store: Pick<Store, 'db'>,
  { asOf, timeZone, pipelineIds, holidays, weekStarts }: BacktestRequest,
  trackRecord: TrackRecord,
): Promise<Tested> {
  const dates = await listTestedDates(store.db, asOf, timeZone)
  const reader = readerOf(store, { dates, period: { timeZone }, pipelineIds })
  const leftOut = { annotations: await listAnnotations(store.db), holidays, pipelineIds, trackRecord }
  const names = await listNames(store.db)
  const numbers = await readNumbers(reader, names, leftOut)
  const rates = await readRates(
    reader,
    names,
    (pipeline) => daysLeftOut(dates, pipeline, leftOut),
    rateDistrust(leftOut),
  )
  const isLeftOut = daysLeftOut(dates, null, leftOut)
  const moneys = await readMoney(store.db, reader, timeZone, isLeftOut, moneyDistrust(leftOut))
  return [dates, numbers, holidays, rates, moneys, weekStarts]
}

/** Lists the local dates up to `asOf` for which counts by day are stored. */
export async function listTestedDates(db: Db, asOf: Instant, timeZone: string): Promise<string[]> {
  const last = await findLastCountedDay(db, timeZone)
  if (last === null) return []
  const days = await listCountedDays(db, dayBefore(new Date(asOf), timeZone).to, timeZone)
  return days.map(({ date }) => date).filter((date) => date <= last)
}

const CHILD = programFile(import.meta.url, 'backtest-child')

export interface KeptRecord {
  /** The results of the last test that succeeded; null if there are none yet. */
  readonly record: TestedRecord | null
  /** The reason why the last test failed; null if it succeeded. */
  readonly failure: string | null
}

export interface RecordKeeper extends AsyncDisposable {
  read(): Promise<KeptRecord>
}

/**
 * Creates the object that keeps the dashboard's test results in memory. `folder` is the working directory of
 * the child process that runs the test.
 */
export function openRecord(deps: {
  readonly store: Pick<Store, 'db'>
  readonly timeZone: string
  readonly holidays: readonly string[]
  readonly weekStarts: WeekStart
  readonly folder: string
  readonly log: Log
}): RecordKeeper {
  const { store, timeZone, holidays, weekStarts, folder, log } = deps
  const closing = new AbortController()
  let kept: (KeptRecord & { readonly key: string }) | null = null
  let testing: Promise<string | null> | null = null

  async function test(
    asOf: string,
    key: string,
    trackRecord: TrackRecord,
    shares: TestedShare[],
  ): Promise<string | null> {
    try {
      const request = { asOf, timeZone, pipelineIds: null, holidays, weekStarts }
      const tested = await readTested(store, request, trackRecord)
      const replayed: Backtest = await askChild(CHILD, tested, { folder, signal: closing.signal })
      kept = { key, record: { ...replayed, published: trackRecord.records, shares }, failure: null }
      return null
    } catch (thrown) {
      if (!closing.signal.aborted)
        log.error({ err: thrown }, `the record cannot be tested: ${errorText(thrown)}`)
      return errorText(thrown)
    }
  }

  return {
    async read() {
      const whole = await findLastWholeRun(store.db)
      if (whole === undefined) return { record: null, failure: null }
      const trackRecord = await readTrackRecord(
        store.db,
        timeZone,
        await listTestedDates(store.db, whole.asOf, timeZone),
      )
      const shares = await readShares(store.db, whole.asOf)
      // The test is repeated when this key changes: after a sync, after a change of annotations, when
      // published ranges have new results, and when stall thresholds have new tests.
      const key = JSON.stringify([whole.asOf, await listAnnotations(store.db), trackRecord.records, shares])
      if (kept?.key === key) return { record: kept.record, failure: null }
      testing ??= test(whole.asOf, key, trackRecord, shares).finally(() => {
        testing = null
      })
      const failure = await testing
      return { record: kept?.record ?? null, failure }
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await testing
    },
  }
}
