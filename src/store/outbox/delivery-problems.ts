/** What is wrong with letters, counted over all of them; a few are named. */
import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'

/** Letters of one report, or notices where that is null, that met the same fate. */
export interface LetterTrouble {
  readonly report: string | null
  readonly letters: number
  /** When the first of them came to it. */
  readonly since: Instant
  /** And the last. */
  readonly last: Instant
  /** One of them, the last, and what the mail server said of it. */
  readonly recipient: string
  readonly response: string | null
}

/**
 * Refused for good or given up since an instant, where the same recipient has got nothing of the report since.
 * The states stand in the SQL, without which SQLite would not use the index on them.
 */
export function listRefused(db: Db, since: Instant): Promise<LetterTrouble[]> {
  return listTroubles(
    db,
    sql`state_at`,
    sql<boolean>`letter.state = 'failed' AND letter.state_at >= ${since}
      AND NOT EXISTS (SELECT 1 FROM delivery AS later LEFT JOIN report_edition ON report_edition.id = later.edition_id
        WHERE later.recipient = letter.recipient AND later.state = 'sent' AND later.state_at > letter.state_at
          AND report_edition.report IS NOT DISTINCT FROM edition.report)`,
  )
}

/** In doubt since an instant and left to a person. */
export function listInDoubt(db: Db, since: Instant): Promise<LetterTrouble[]> {
  return listTroubles(
    db,
    sql`state_at`,
    sql<boolean>`letter.state = 'in_doubt' AND letter.state_at >= ${since} AND letter.next_attempt_at IS NULL`,
  )
}

/** A letter that may or may not have arrived. */
export interface DoubtfulLetter {
  readonly messageId: string
  readonly recipient: string
  /** Null for a notice to operators, as is the edition. */
  readonly report: string | null
  readonly editionId: string | null
  readonly stateAt: Instant
  /** Null where it is left to a person. */
  readonly nextAttemptAt: Instant | null
}

/** Those in doubt since an instant, one by one, the last first. */
export async function listDoubtful(db: Db, since: Instant, limit: number): Promise<DoubtfulLetter[]> {
  const { rows } = await sql<DoubtfulLetter>`
    SELECT message_id AS "messageId", recipient, report, edition_id AS "editionId", state_at AS "stateAt",
      next_attempt_at AS "nextAttemptAt"
    FROM delivery LEFT JOIN report_edition ON report_edition.id = edition_id
    WHERE state = 'in_doubt' AND state_at >= ${since} ORDER BY state_at DESC LIMIT ${limit}`.execute(db)
  return rows
}

/** Letters that the mail server has been putting off since before an instant, and that are still tried. */
export function listPutOff(db: Db, before: Instant): Promise<LetterTrouble[]> {
  return listTroubles(
    db,
    sql`put_off_at`,
    sql<boolean>`letter.next_attempt_at IS NOT NULL AND letter.put_off_at < ${before}`,
  )
}

/**
 * By report, notices first.
 * @param fate the column of when a letter came to it
 * @param condition of `letter` and its `edition`
 */
async function listTroubles(
  db: Db,
  fate: RawBuilder<unknown>,
  condition: RawBuilder<boolean>,
): Promise<LetterTrouble[]> {
  const { rows } = await sql<LetterTrouble>`
    WITH troubled AS (
      SELECT edition.report, letter.${fate} AS at, letter.recipient, letter.response,
        row_number() OVER (PARTITION BY edition.report ORDER BY letter.${fate} DESC, letter.message_id) AS place
      FROM delivery AS letter LEFT JOIN report_edition AS edition ON edition.id = letter.edition_id
      WHERE ${condition})
    SELECT report, count(*) AS letters, min(at) AS since, max(at) AS last,
      max(recipient) FILTER (WHERE place = 1) AS recipient, max(response) FILTER (WHERE place = 1) AS response
    FROM troubled GROUP BY report ORDER BY report NULLS FIRST`.execute(db)
  return rows
}

/** Letters that are still to be sent, and since when the oldest of them waits. */
export async function countWaiting(db: Db): Promise<{ letters: number; since: Instant | null }> {
  return db
    .selectFrom('delivery')
    .where('next_attempt_at', 'is not', null)
    .select((eb) => [eb.fn.countAll<number>().as('letters'), eb.fn.min('queued_at').as('since')])
    .executeTakeFirstOrThrow()
}
