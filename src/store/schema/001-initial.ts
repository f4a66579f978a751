/**
 * The first schema, in one source file for each subject. The SQL comments stay in the database file (`.schema
 * lead` shows them), and analysts read them. A comment gives the meaning of a value, its unit, and the clock
 * of an instant.
 */
import type { Kysely } from 'kysely'
import { EVENTS } from './001-initial/events.ts'
import { INSIGHT } from './001-initial/insight.ts'
import { LEADS } from './001-initial/leads.ts'
import { OPERATION } from './001-initial/operation.ts'
import { PIPELINES } from './001-initial/pipelines.ts'
import { REPORTS } from './001-initial/reports-and-outbox.ts'
import { SYNC } from './001-initial/sync.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...PIPELINES, ...LEADS, ...SYNC, ...EVENTS, ...REPORTS, ...INSIGHT, ...OPERATION])
    await statement.execute(db)
}
