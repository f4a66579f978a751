/**
 * When the next request may leave where several processes ask the same upstream, which is in PostgreSQL alone: by its
 * clock, since theirs differ. Each of these is one statement that waits for no turn to write.
 */
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'

/** A limit that is told in whole seconds seems to end a little sooner or later each time. */
const SAME_RESET_MS = 1_500

/** And no wait for the disk with the row locked: what a crash takes away of the pace is a moment. */
const NOW = sql`(SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now,
    set_config('synchronous_commit', 'off', true) AS waits) AS clock`
const FREE_AT = sql`greatest(held_until_ms, CASE WHEN requests_left <= 0 AND reset_ms > now THEN reset_ms ELSE 0 END)`
const TURN_AT = sql`greatest(now, next_ms, ${FREE_AT})`

/** As `Pacer.takeTurn` of the source. */
export async function takeTurn(
  db: Db,
  gapMs: number,
  maxWaitMs: number,
): Promise<{ isTaken: boolean; inMs: number }> {
  const { rows } = await sql<{ ms: number }>`UPDATE upstream_pace SET
      next_ms = ${TURN_AT} + ${gapMs},
      requests_left = CASE WHEN reset_ms > ${TURN_AT} THEN requests_left - 1 END,
      under_way = CASE WHEN requests_left IS NOT NULL AND reset_ms <= ${TURN_AT} THEN 1 ELSE under_way + 1 END
    FROM ${NOW} WHERE ${FREE_AT} - now <= ${maxWaitMs}
    RETURNING next_ms - ${gapMs} - now AS ms`.execute(db)
  if (rows[0] !== undefined) return { isTaken: true, inMs: Math.max(0, rows[0].ms) }
  const { rows: held } = await sql<{ ms: number }>`
    SELECT ${FREE_AT} - now AS ms FROM upstream_pace, ${NOW}`.execute(db)
  if (held[0] !== undefined && held[0].ms > maxWaitMs) return { isTaken: false, inMs: held[0].ms }
  await sql`INSERT INTO upstream_pace VALUES (1, 0, 0, NULL, 0, 0) ON CONFLICT DO NOTHING`.execute(db)
  return takeTurn(db, gapMs, maxWaitMs)
}

/** For how long the upstream wants no request. */
export async function readHeldMs(db: Db): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    SELECT greatest(0, held_until_ms - now) AS ms FROM upstream_pace, ${NOW}`.execute(db)
  return rows[0]?.ms ?? 0
}

export async function holdRequests(db: Db, ms: number): Promise<void> {
  await sql`UPDATE upstream_pace SET held_until_ms = greatest(held_until_ms, now + ${ms}) FROM ${NOW}`.execute(
    db,
  )
}

/**
 * The answer to a request has come, or none will.
 * @param budget what it says is left; an answer that was overtaken by a later one does not make it more
 */
export async function endTurn(
  db: Db,
  budget: { readonly remaining: number; readonly resetMs: number } | null,
): Promise<void> {
  const others = sql`greatest(0, under_way - 1)`
  if (budget === null) {
    await sql`UPDATE upstream_pace SET under_way = ${others} FROM ${NOW}`.execute(db)
    return
  }
  const left = sql`${budget.remaining} - ${others}`
  await sql`UPDATE upstream_pace SET
      under_way = ${others},
      requests_left = CASE WHEN abs(reset_ms - now - ${budget.resetMs}) <= ${SAME_RESET_MS}
        THEN least(requests_left, ${left}) ELSE ${left} END,
      reset_ms = now + ${budget.resetMs}
    FROM ${NOW}`.execute(db)
}
