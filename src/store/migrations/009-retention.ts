/** What has been pruned, so that nobody takes a thinned past for a quiet one. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE pruned ( -- one row for each table and rule by which old rows have gone; none where all are there
    table_name TEXT NOT NULL, -- the table that they were in
    rule TEXT NOT NULL CHECK (rule IN ('hourly', 'daily', 'ended')), -- hourly, daily: of each hour or day the first reading stays, and each that began another status; ended: states that had ended are gone
    before TEXT NOT NULL, -- UTC: rows of before this instant
    pruned_at TEXT NOT NULL, -- UTC, by our clock: when that was last done
    rows INTEGER NOT NULL, -- how many have gone, over all times that it was done
    PRIMARY KEY (table_name, rule)
  ) STRICT, WITHOUT ROWID`,
]
