/** What became known of a time only after figures of it were read. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'

/**
 * Leads of which a state, a move, an update or an activity that is dated before `to` was read only after `knownAt`: figures of a
 * period that ends with `to` may differ by them.
 */
export async function countLeadsKnownLater(db: Db, to: Instant, knownAt: Instant): Promise<number> {
  const { rows } = await sql<{ leads: number }>`SELECT count(*) AS leads FROM (
      SELECT lead_id FROM lead_version WHERE observed_at > ${knownAt} AND valid_from < ${to}
      UNION SELECT lead_id FROM stage_move WHERE observed_at > ${knownAt} AND moved_at < ${to}
      UNION SELECT lead_id FROM lead_touch WHERE observed_at > ${knownAt} AND changed_at < ${to}
      UNION SELECT lead_id FROM activity WHERE first_seen_at > ${knownAt} AND at < ${to}) AS known`.execute(
    db,
  )
  return rows[0]?.leads ?? 0
}
