/**
 * Tests two statements of reports. The first says that 5 % of the later won leads stay in a stage for longer
 * than the threshold of the stage. The second says that 1 % of the later won leads are older than the age
 * from which an open lead counts as lost. If the tests do not confirm a threshold, reports withhold it.
 */

import type { Instant } from '../../domain/model.ts'
import { isTrusted, type Shown, WINDOWS_MIN } from '../../insight/record.ts'
import { binomialOf } from '../../insight/win-rate.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { listStallTests, testStallThresholds } from '../../store/insight/stall-test.ts'
import {
  AGE_SHARE,
  readOldLeads,
  readStallThresholds,
  refreshStallThresholds,
  STAY_SHARE,
  WHOLE_AGE,
} from '../../store/insight/stall-threshold.ts'
import { findLastWholeRun } from '../../store/sync/sync-run.ts'

/**
 * The maximum number of dates that one refresh tests. With a million leads, the test of one date takes a
 * second.
 */
const DATES_AT_ONCE = 6
/**
 * The probability outside each end of the 90 % interval. A share is right on a date if the number of later
 * winners beyond the threshold lies in this interval.
 */
const TAIL = 0.05
/** The fraction of dates on which a printed share must be right. */
const DATES_MEANT = 0.85

/** The number of tested dates, and the number of these dates on which a share was right (`hits`). */
interface ShareTest {
  readonly dates: number
  readonly hits: number
  /** True if the share may be printed; false if the share was wrong on too many dates. */
  readonly isTrusted: boolean
}

export interface TestedShare extends ShareTest {
  /** The status of the stage; null for the age of lost leads. */
  readonly status: string | null
  /** The printed share of later winners that lie beyond the threshold. */
  readonly share: number
  readonly shown: Shown
}

/**
 * If the thresholds are about a day old, computes new thresholds and tests thresholds of some past dates. A
 * sync calls this in its own thread, so that reports in the daemon seldom have work to do here.
 */
export async function refreshThresholds(store: Pick<Store, 'db' | 'write'>, now: Date): Promise<void> {
  await refreshStallThresholds(store, now, async () => {
    const asOf = (await findLastWholeRun(store.db))?.asOf
    if (asOf === undefined) return new Set()
    await testStallThresholds(store, new Date(asOf), DATES_AT_ONCE)
    const tests = await readShares(store.db, asOf)
    return new Set(tests.flatMap(({ status, isTrusted }) => (isTrusted ? [] : [status ?? WHOLE_AGE])))
  })
}

/**
 * Reads on how many dates each share was right. The share for the age of lost leads comes first.
 * @param asOf the time up to which all leads have been read
 */
export async function readShares(db: Db, asOf: Instant): Promise<TestedShare[]> {
  const tests = Map.groupBy(await listStallTests(db, new Date(asOf)), ({ status }) => status)
  const age = (await readOldLeads(db))?.age ?? null
  const thresholds = await readStallThresholds(db)
  return [...tests].map(([status, rows]) => {
    const share = status === WHOLE_AGE ? AGE_SHARE : STAY_SHARE
    const test = testShare(
      share,
      rows.filter(({ days }) => days !== null),
    )
    const { days } = (status === WHOLE_AGE ? age : thresholds.get(status)) ?? { days: null }
    return { ...test, status: status || null, share, shown: shownOf(test, days !== null) }
  })
}

/** The number of leads that were won after a test date, and how many of them are beyond the threshold. */
interface TestedDate {
  readonly winners: number
  readonly longer: number
}

/** Counts the dates on which a share was right. A date after which no lead was won is left out. */
export function testShare(share: number, tested: readonly TestedDate[]): ShareTest {
  const judged = tested.filter(({ winners }) => winners > 0)
  const hits = judged.filter((date) => isWithinInterval(share, date)).length
  const record = { hits, of: judged.length }
  return { dates: judged.length, hits, isTrusted: isTrusted(record, WINDOWS_MIN, DATES_MEANT) }
}

/**
 * Returns whether the number of winners beyond the threshold (`longer`) fits the share. The number does not
 * fit if it is so small or so large that, by the share, its probability is at most 5 %.
 */
function isWithinInterval(share: number, { winners, longer }: TestedDate): boolean {
  const { upTo } = binomialOf(winners, share)
  return upTo(longer) > TAIL && 1 - upTo(longer - 1) > TAIL
}

/**
 * Returns how a report shows a share.
 * @param isKnown true if there are now enough winners for a threshold
 */
export function shownOf({ isTrusted }: ShareTest, isKnown: boolean): Shown {
  return !isTrusted ? 'withheld' : isKnown ? 'printed' : 'learning'
}
