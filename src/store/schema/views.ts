/**
 * The views that analysts query and that the figures are made of. Their SQL is their definition; it stands in
 * `views/`. One that reads another comes after it.
 */
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { FIGURE_VIEWS } from './figure-views.ts'
import { HISTORY_VIEWS } from './history-views.ts'
import { LEAD_VIEWS } from './lead-views.ts'
import { PIPELINE_VIEWS } from './pipeline-views.ts'

export const VIEWS = { ...LEAD_VIEWS, ...HISTORY_VIEWS, ...PIPELINE_VIEWS, ...FIGURE_VIEWS }

/** Whether the file has these views as written here; an analyst's own beside them are none of our business. */
export async function hasCurrentViews(db: Kysely<Tables>): Promise<boolean> {
  const present = await readViews(db)
  return Object.entries(VIEWS).every(([name, view]) => present.get(name) === view.compile(db).sql)
}

/** Drops every view, since a migration cannot change a table that one reads; returns the text of those not ours, by name. */
export async function dropViews(db: Kysely<Tables>): Promise<Map<string, string>> {
  const present = await readViews(db)
  for (const name of present.keys()) await sql`DROP VIEW ${sql.ref(name)}`.execute(db)
  return new Map([...present].filter(([name]) => !(name in VIEWS)))
}

/** One whose name a table has taken since is gone: of ours such as stage_move, or of an analyst. */
export async function createViews(db: Kysely<Tables>, others: ReadonlyMap<string, string>): Promise<void> {
  for (const view of Object.values(VIEWS)) await view.execute(db)
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema`.execute(db)
  const taken = new Set(rows.map((row) => row.name))
  // As the file itself had them, so that there is nothing to build or to escape.
  for (const [name, text] of others) if (!taken.has(name)) await db.executeQuery(CompiledQuery.raw(text))
}

async function readViews(db: Kysely<Tables>): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; sql: string }>`
    SELECT name, sql FROM sqlite_schema WHERE type = 'view'`.execute(db)
  return new Map(rows.map((row) => [row.name, row.sql]))
}
