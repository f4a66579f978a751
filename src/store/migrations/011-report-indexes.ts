/**
 * Indexes by which the figures of reports are quick: what they read of many moves stands in one, and another leads to
 * the moves that became known since a report.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`DROP INDEX stage_move_by_time`,
  sql`CREATE INDEX stage_move_by_time ON stage_move (moved_at, pipeline_id, to_status, from_status, entered_at, days_before)`,
  sql`CREATE INDEX stage_move_by_reading ON stage_move (observed_at, moved_at)`,
  sql`DROP INDEX lead_version_by_end`,
  sql`CREATE INDEX lead_version_by_end ON lead_version (valid_to, status, pipeline_id, value_currency, value_amount, lead_id)
    WHERE valid_to IS NOT NULL`,
  sql`DROP INDEX lead_by_arrival`,
  sql`CREATE INDEX lead_by_arrival ON lead (first_seen_at, created_at, updated_at, id)`,
]
