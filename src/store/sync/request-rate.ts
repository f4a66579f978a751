/**
 * The rate limit of requests to the upstream. Several workers share this limit, which is possible only in
 * PostgreSQL. The limit uses the database's clock, because the clocks of workers differ. Each operation is
 * one statement, so that no operation waits for a long writing transaction to end.
 */
import { sql } from 'kysely'
import type { Db, Store } from '../db/store.ts'

/**
 * Two reset times at most this far apart count as the same reset of the upstream's limit. They can differ
 * because the upstream gives only whole seconds.
 */
const SAME_RESET_MS = 1_500

/**
 * The database's time in milliseconds. The same SELECT turns off waiting for the disk at the commit, so that
 * the row is not locked for long. A crash can then lose only the last moment of the rate limit.
 */
const NOW = sql`(SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now,
    set_config('synchronous_commit', 'off', true) AS waits) AS clock`
const FREE_AT = sql`greatest(blocked_until_ms, CASE WHEN requests_left <= 0 AND reset_ms > now THEN reset_ms ELSE 0 END)`
const REQUEST_AT = sql`greatest(now, next_ms, ${FREE_AT})`

/**
 * Opens the shared rate limit.
 * @returns undefined for an SQLite store, because only one process uses such a store to send requests. That
 * process needs only `RequestRate` of the upstream's client
 */
export function openSharedRequestRate({ db, place }: Pick<Store, 'db' | 'place'>) {
  if (place.kind === 'sqlite') return undefined
  return {
    takeRequest: (gapMs: number, maxWaitMs: number) => takeRequest(db, gapMs, maxWaitMs),
    blockedMs: () => readBlockedMs(db),
    block: (ms: number) => blockRequests(db, ms),
    endRequest: (budget: Budget | null) => endRequest(db, budget),
    postpone: (ms: number) => blockRequests(db, ms),
  }
}

interface Budget {
  readonly remaining: number
  readonly resetMs: number
}

async function takeRequest(
  db: Db,
  gapMs: number,
  maxWaitMs: number,
): Promise<{ isTaken: boolean; inMs: number }> {
  const { rows } = await sql<{ ms: number }>`UPDATE request_rate SET
      next_ms = ${REQUEST_AT} + ${gapMs},
      requests_left = CASE WHEN reset_ms > ${REQUEST_AT} THEN requests_left - 1 END,
      under_way = CASE WHEN requests_left IS NOT NULL AND reset_ms <= ${REQUEST_AT} THEN 1 ELSE under_way + 1 END
    FROM ${NOW} WHERE ${FREE_AT} - now <= ${maxWaitMs}
    RETURNING next_ms - ${gapMs} - now AS ms`.execute(db)
  if (rows[0] !== undefined) return { isTaken: true, inMs: Math.max(0, rows[0].ms) }
  const { rows: blocked } = await sql<{ ms: number }>`
    SELECT ${FREE_AT} - now AS ms FROM request_rate, ${NOW}`.execute(db)
  if (blocked[0] !== undefined && blocked[0].ms > maxWaitMs) return { isTaken: false, inMs: blocked[0].ms }
  await sql`INSERT INTO request_rate VALUES (1, 0, 0, NULL, 0, 0) ON CONFLICT DO NOTHING`.execute(db)
  return takeRequest(db, gapMs, maxWaitMs)
}

/** Returns how many milliseconds remain before the upstream accepts requests again. */
async function readBlockedMs(db: Db): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    SELECT greatest(0, blocked_until_ms - now) AS ms FROM request_rate, ${NOW}`.execute(db)
  return rows[0]?.ms ?? 0
}

async function blockRequests(db: Db, ms: number): Promise<void> {
  await sql`UPDATE request_rate SET blocked_until_ms = greatest(blocked_until_ms, now + ${ms}) FROM ${NOW}`.execute(
    db,
  )
}

/**
 * Records the end of a request, whether an answer came or not.
 * @param budget the number of requests left according to the answer; null without an answer. An answer that
 * arrives after the answer to a later request does not raise the number.
 */
async function endRequest(db: Db, budget: Budget | null): Promise<void> {
  const others = sql`greatest(0, under_way - 1)`
  if (budget === null) {
    await sql`UPDATE request_rate SET under_way = ${others} FROM ${NOW}`.execute(db)
    return
  }
  const left = sql`${budget.remaining} - ${others}`
  await sql`UPDATE request_rate SET
      under_way = ${others},
      requests_left = CASE WHEN abs(reset_ms - now - ${budget.resetMs}) <= ${SAME_RESET_MS}
        THEN least(requests_left, ${left}) ELSE ${left} END,
      reset_ms = now + ${budget.resetMs}
    FROM ${NOW}`.execute(db)
}
