/** A store into which another one is being moved says so, so that nothing begins to work with half of it. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE installation ADD COLUMN moving_from -- the store that is being moved here, as messages call it; null where this is whole
    TEXT`.execute(db)
}
