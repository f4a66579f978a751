/**
 * Withholds thresholds of stages, and the age of lost leads, that did not come true for later winners. Reports print
 * that of the leads won next, 1 % are older than a lost lead, and 5 % stay longer in a stage than its threshold.
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

/** The most dates that are tested each time, because with a million leads a date takes a second. */
const DATES_AT_ONCE = 6
/** A share holds on a date if the number of later winners beyond it lies in its interval of 90 %. */
const TAIL = 0.05
/** The share of dates on which a printed share must hold. */
const DATES_MEANT = 0.85

/** A count of the dates on which a share held. */
interface ShareTest {
  readonly dates: number
  readonly hits: number
  /** Tells whether the dates do not speak against the share. */
  readonly isTrusted: boolean
}

export interface TestedShare extends ShareTest {
  /** The status of the stage; null for the age of lost leads. */
  readonly status: string | null
  /** The share of later winners beyond the threshold that is printed. */
  readonly share: number
  readonly shown: Shown
}

/**
 * Counts the thresholds again if the last count is a day old, and tests some earlier thresholds. A sync does this in
 * its own thread, so that a daemon's report seldom has to.
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
 * Reads how often each share held. The share for the age comes first.
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

/** The number of later winners of a test date, and the number of those beyond the threshold. */
interface TestedDate {
  readonly winners: number
  readonly longer: number
}

/** Counts the dates on which a share held. A date without later winners says nothing. */
export function testShare(share: number, tested: readonly TestedDate[]): ShareTest {
  const judged = tested.filter(({ winners }) => winners > 0)
  const hits = judged.filter((date) => isWithinInterval(share, date)).length
  const record = { hits, of: judged.length }
  return { dates: judged.length, hits, isTrusted: isTrusted(record, WINDOWS_MIN, DATES_MEANT) }
}

/** Returns whether, by the share, a count this small and a count this large each have a chance of more than 5 %. */
function isWithinInterval(share: number, { winners, longer }: TestedDate): boolean {
  const { upTo } = binomialOf(winners, share)
  return upTo(longer) > TAIL && 1 - upTo(longer - 1) > TAIL
}

/** @param isKnown tells whether there are enough winners for a threshold now */
export function shownOf({ isTrusted }: ShareTest, isKnown: boolean): Shown {
  return !isTrusted ? 'withheld' : isKnown ? 'printed' : 'learning'
}
