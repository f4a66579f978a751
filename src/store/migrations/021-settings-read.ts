/** It is known when the daemon read its settings, and whether they were right: those in force may be older ones. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE settings_read ( -- one row a time the daemon read its settings: when it began, and when it was told to; the last 100
    id INTEGER PRIMARY KEY,
    read_at TEXT NOT NULL, -- UTC
    refused TEXT, -- what was wrong with them, so that those of before stayed in force; null where these are in force since
    changed TEXT, -- JSON: the names of those that differ from the ones in force before; null where there were none
    program TEXT NOT NULL, -- the version of leadsheet that read them
    host TEXT NOT NULL,
    pid INTEGER NOT NULL
  ) STRICT`.execute(db)
}
