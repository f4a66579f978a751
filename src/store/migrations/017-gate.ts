/** How many absences a scan was not believed, so that reports and operators can say so. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sync_scan_verdict ADD COLUMN held_back INTEGER -- leads that are there and that this reading did not meet, where they are too many to be believed gone, so that none was marked removed; else 0
    NOT NULL DEFAULT 0`.execute(db)
}
