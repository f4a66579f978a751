/**
 * The first schema, by subject. The comments stay in the database file (`.schema lead` shows them) and are what analysts
 * read about a column: say what a value means, its unit, and by whose clock an instant is.
 */
import type { Kysely } from 'kysely'
import { EVENTS } from './001-initial/events.ts'
import { LEADS } from './001-initial/leads.ts'
import { OPERATION } from './001-initial/operation.ts'
import { PIPELINES } from './001-initial/pipelines.ts'
import { REPORTS } from './001-initial/reports.ts'
import { SYNC } from './001-initial/sync.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...PIPELINES, ...LEADS, ...SYNC, ...EVENTS, ...REPORTS, ...OPERATION])
    await statement.execute(db)
}
