/**
 * Tests the thresholds of stages and of the age on past dates: each thirtieth day, the thresholds of the leads won
 * before it are compared with the leads won in the next 30 days. A date is tested once, and its result is kept.
 */
import type { Db, Store } from '../db/store.ts'
import { countLonger, countThresholds, NEXT_DAYS } from './stall-threshold.ts'

const DAY_MS = 86_400_000
/** The dates of three years are tested. */
const LAST_DAYS = 1096
/** A date is tested some days after the next 30 days, because leads may be read late. */
const READ_AFTER_DAYS = 3

interface StallTest {
  /** The status of the stage; empty for the age. */
  readonly status: string
  readonly days: number | null
  readonly winners: number
  readonly longer: number
}

/**
 * Tests the dates that were not tested yet, the latest date first.
 * @param asOf the time up to which all leads have been read
 * @param datesMax the most dates that are tested now
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

/** Lists the results of the last three years, by stage. */
export async function listStallTests(db: Db, asOf: Date): Promise<StallTest[]> {
  return db
    .selectFrom('stall_test')
    .where('tested_from', '>', dateOf(asOf.getTime() - LAST_DAYS * DAY_MS))
    .select(['status', 'days', 'winners', 'longer'])
    .orderBy('status')
    .orderBy('tested_from')
    .execute()
}

/** Lists the dates that can be tested, the last one first. They are the same whenever they are listed. */
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
