/**
 * Indexes by which due times and letters are counted without reading through all that ever were. That of letters leaves
 * out those that were sent: with all of them in it, SQLite would take it for a way to the letters of a recipient.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE INDEX schedule_slot_by_state ON schedule_slot (schedule, state)`,
  sql`CREATE INDEX schedule_slot_by_time ON schedule_slot (slot)`,
  sql`CREATE INDEX schedule_slot_missed ON schedule_slot (schedule, noted_at) WHERE state = 'skipped' AND attempts = 0`,
  sql`CREATE INDEX delivery_not_sent ON delivery (state) WHERE state <> 'sent'`,
]
