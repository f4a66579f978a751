/**
 * The first schema: the tables of `store/tables`. The SQL comments stay in the database file (`.schema lead` shows
 * them), and analysts read them. A comment gives the meaning of a value, its unit, and the clock of an instant.
 */
import { type Kysely, sql } from 'kysely'
import { EVENTS } from '../tables/events.ts'
import { INSIGHT } from '../tables/insight.ts'
import { LEADS } from '../tables/leads.ts'
import { OPERATION } from '../tables/operation.ts'
import { PIPELINES } from '../tables/pipelines.ts'
import { REPORTS } from '../tables/reports-and-outbox.ts'
import { SYNC } from '../tables/sync.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...PIPELINES, ...LEADS, ...SYNC, ...EVENTS, ...REPORTS, ...INSIGHT, ...OPERATION])
    await sql.raw(statement).execute(db)
}
