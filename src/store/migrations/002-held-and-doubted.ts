/**
 * Of a record that cannot be read, whose it is; of a letter, how often it was in doubt.
 * Comments stand inside the definitions: what comes after the last word of a column SQLite does not keep.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`ALTER TABLE held_row ADD COLUMN
    record_id /* the upstream's identifier of the record; null where it has none */ TEXT`,
  sql`UPDATE held_row SET record_id = raw ->> CASE resource WHEN 'pipeline_stat' THEN '$.pipeline_id' ELSE '$.id' END
    WHERE json_valid(raw)`,
  sql`CREATE INDEX held_row_by_record ON held_row (resource, record_id)`,
  sql`ALTER TABLE delivery ADD COLUMN
    doubts /* how often it was in doubt: after the second time it is not sent again */ INTEGER NOT NULL DEFAULT 0`,
  sql`UPDATE delivery SET doubts = 1 WHERE state = 'in_doubt'`,
]
