/**
 * Tests the thresholds of `stall-threshold.ts` on past dates. A threshold is a number of days that few won
 * leads exceeded, either in one stage or in their whole age. The tested dates are 30 days apart. For each
 * date, the thresholds are computed from the leads won before. Then the leads won in the next 30 days are
 * compared with these thresholds. Each date is tested once, and its result is stored.
 */
import type { Db, Store } from '../db/store.ts'
import { countLonger, countThresholds, NEXT_DAYS } from './stall-threshold.ts'

const DAY_MS = 86_400_000
/** Dates up to this number of days ago are tested: three years. */
const LAST_DAYS = 1096
/** A date is tested this number of days after the end of its 30 days, because leads may be read late. */
const READ_AFTER_DAYS = 3

interface StallTest {
  /** The status of the stage; empty for the threshold of the whole age. */
  readonly status: string
  readonly days: number | null
  readonly winners: number
  readonly longer: number
}

/**
 * Tests the dates that were not tested yet, the latest date first.
 * @param asOf the time up to which all leads have been read
 * @param datesMax the maximum number of dates that this call tests
 */
export async function testStallThresholds(
  store: Pick<Store, 'db' | 'write'>,
  asOf: Date,
  datesMax = Number.POSITIVE_INFINITY,
): Promise<void> {
  const tested = await store.db.selectFrom('stall_test').select('tested_from').distinct().execute()
  const known = new Set(tested.map((row) => row.tested_from))
  const { first } = await store.db
    .selectFrom('lead')
    .select(({ fn }) => fn.min('created_at').as('first'))
    .executeTakeFirstOrThrow()
  const missing = listDates(asOf, first ?? asOf.toISOString()).filter((date) => !known.has(date))
  for (const tested_from of missing.slice(0, datesMax)) {
    const at = new Date(tested_from)
    const thresholds = await countThresholds(store.db, at)
    const counted = new Map((await countLonger(store.db, at, thresholds)).map((row) => [row.status, row]))
    const rows = thresholds.map(({ status, days }) => {
      const { winners = 0, longer = 0 } = counted.get(status) ?? {}
      return { status, tested_from, days, winners, longer }
    })
    await store.write((trx) =>
      trx
        .insertInto('stall_test')
        .values(rows)
        .onConflict((on) => on.columns(['status', 'tested_from']).doNothing())
        .execute(),
    )
    await new Promise(setImmediate)
  }
}

/** Lists the test results of the last three years, by stage. */
export async function listStallTests(db: Db, asOf: Date): Promise<StallTest[]> {
  return db
    .selectFrom('stall_test')
    .where('tested_from', '>', dateOf(asOf.getTime() - LAST_DAYS * DAY_MS))
    .select(['status', 'days', 'winners', 'longer'])
    .orderBy('status')
    .orderBy('tested_from')
    .execute()
}

/**
 * Lists the dates that can be tested, the latest first. Each call lists the same dates, because they are
 * multiples of 30 days since 1970.
 */
function listDates(asOf: Date, first: string): string[] {
  const step = NEXT_DAYS * DAY_MS
  const last = Math.floor((asOf.getTime() - step - READ_AFTER_DAYS * DAY_MS) / step) * step
  const from = Math.max(Date.parse(first), asOf.getTime() - LAST_DAYS * DAY_MS)
  return Array.from({ length: Math.max(0, Math.ceil((last - from) / step)) }, (_, index) =>
    dateOf(last - index * step),
  )
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
