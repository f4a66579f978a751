/**
 * Finds time fields that are wrong for most leads. There are two signs of a wrong field. Nearly all leads
 * have the time at which we first read them: then the upstream has no value where the profile looks. Or
 * nearly all leads have the same day: then the profile may name the wrong field. Only some leads are
 * examined, so that the check is quick.
 */
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'

interface ImplausibleTime {
  readonly field: 'created_at' | 'updated_at' | 'status_changed_at'
  /** `read`: nearly all leads have the time of our first reading. `same`: nearly all have the same `day`. */
  readonly why: 'read' | 'same'
  /** The day in UTC; null if `why` is `read`. */
  readonly day: string | null
}

/** As many of the newest leads are examined as of the oldest. */
const SAMPLE = 500
/** The minimum number of examined leads for a finding, because a few leads may really have the same day. */
const LEADS_LEAST = 50
/** The minimum share of examined leads that must have the same fault for a finding. */
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
    value_seen AS (
      SELECT 'created_at' AS field, created_at AS at, first_seen_at FROM chosen
      UNION ALL SELECT 'updated_at', updated_at, first_seen_at FROM chosen
      UNION ALL SELECT 'status_changed_at', status_changed_at, first_seen_at FROM chosen),
    days AS (
      SELECT field, substr(at, 1, 10) AS day, count(*) AS alike, count(*) FILTER (WHERE at = first_seen_at) AS read
      FROM value_seen GROUP BY field, substr(at, 1, 10)),
    placed AS (
      SELECT *, sum(alike) OVER of_field AS leads, sum(read) OVER of_field AS all_read,
        row_number() OVER (PARTITION BY field ORDER BY alike DESC, day) AS place
      FROM days WINDOW of_field AS (PARTITION BY field))
    SELECT field, day, alike, CAST(leads AS integer) AS leads, CAST(all_read AS integer) AS read
    FROM placed WHERE place = 1 ORDER BY field`.execute(db)
  return rows.flatMap(({ field, leads, read, day, alike }): ImplausibleTime[] => {
    if (leads < LEADS_LEAST) return []
    if (read >= leads * SHARE) return [{ field, why: 'read', day: null }]
    // Ignores equal days in `updated_at`, because an upstream may really update all its leads on one day.
    if (field === 'updated_at' || alike < leads * SHARE) return []
    return [{ field, why: 'same', day }]
  })
}

export function formatImplausible({ field, why, day }: ImplausibleTime): string {
  return why === 'read'
    ? `${field} of nearly all leads is when they were first read: the upstream tells none where the profile looks`
    : `${field} of nearly all leads is of one day, ${day} (UTC): that may be the wrong field`
}
