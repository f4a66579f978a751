/**
 * Finds times of leads that the upstream cannot mean: the time of our first reading, because a field is empty
 * or has another name, or the same day for nearly all leads. Only some leads are examined, so that the check
 * is quick.
 */
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'

export interface ImplausibleTime {
  readonly field: 'created_at' | 'updated_at' | 'status_changed_at'
  /**
   * `read` means the time at which we first read the lead. `same` means one single day (UTC), which is in
   * `day`.
   */
  readonly why: 'read' | 'same'
  readonly day: string | null
}

/** The number of oldest leads, and of newest leads, that are examined. */
const SAMPLE = 500
/** Fewer leads than this may well have the same day. */
const LEADS_LEAST = 50
const SHARE = 0.9

interface Counted {
  readonly field: ImplausibleTime['field']
  readonly leads: number
  readonly read: number
  readonly day: string
  readonly alike: number
}

export async function findImplausibleTimes(db: Db): Promise<ImplausibleTime[]> {
  const { rows } = await sql<Counted>`WITH chosen AS (
      SELECT id, created_at, updated_at, status_changed_at, first_seen_at
      FROM (SELECT * FROM lead ORDER BY created_at LIMIT ${sql.lit(SAMPLE)}) AS oldest
      UNION SELECT id, created_at, updated_at, status_changed_at, first_seen_at
      FROM (SELECT * FROM lead ORDER BY created_at DESC LIMIT ${sql.lit(SAMPLE)}) AS newest),
    told AS (
      SELECT 'created_at' AS field, created_at AS at, first_seen_at FROM chosen
      UNION ALL SELECT 'updated_at', updated_at, first_seen_at FROM chosen
      UNION ALL SELECT 'status_changed_at', status_changed_at, first_seen_at FROM chosen),
    days AS (
      SELECT field, substr(at, 1, 10) AS day, count(*) AS alike, count(*) FILTER (WHERE at = first_seen_at) AS read
      FROM told GROUP BY field, substr(at, 1, 10)),
    placed AS (
      SELECT *, sum(alike) OVER of_field AS leads, sum(read) OVER of_field AS all_read,
        row_number() OVER (PARTITION BY field ORDER BY alike DESC, day) AS place
      FROM days WINDOW of_field AS (PARTITION BY field))
    SELECT field, day, alike, CAST(leads AS integer) AS leads, CAST(all_read AS integer) AS read
    FROM placed WHERE place = 1 ORDER BY field`.execute(db)
  return rows.flatMap(({ field, leads, read, day, alike }): ImplausibleTime[] => {
    if (leads < LEADS_LEAST) return []
    if (read >= leads * SHARE) return [{ field, why: 'read', day: null }]
    // An upstream may really update all its leads at once.
    if (field === 'updated_at' || alike < leads * SHARE) return []
    return [{ field, why: 'same', day }]
  })
}

/** Describes an implausible time for operators. */
export function formatImplausible({ field, why, day }: ImplausibleTime): string {
  return why === 'read'
    ? `${field} of nearly all leads is when they were first read: the upstream tells none where the profile looks`
    : `${field} of nearly all leads is of one day, ${day} (UTC): that may be the wrong field`
}
