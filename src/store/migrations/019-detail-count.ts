/** The status page tells at once how many details are read and how many wait, however many leads there are. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX detail_queue_by_due ON detail_queue (due_at, failures)`.execute(db)
}
