/** Withholds thresholds of stages, and the age of lost leads, that did not come true for later winners. */

import type { Instant } from '../../domain/model.ts'
import type { Shown } from '../../insight/record.ts'
import { type ShareTest, shownOf, testShare } from '../../insight/share-test.ts'
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
