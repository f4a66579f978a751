/** A list that several processes read beside each other, each a part of it. A scan that is under way stays so. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE sync_part ( -- one row a part of the list of leads while several processes read it, until all parts are read
    part INTEGER PRIMARY KEY CHECK (part > 0),
    pipeline_id TEXT, -- the part has the leads of this pipeline; null where it is not parted so
    since TEXT, -- UTC: it has the leads updated since; null from the first on
    until TEXT, -- UTC: and before; null to the last
    end_position TEXT, -- the position of the first page that is no longer of the part; null where it ends with its list
    run_id TEXT, -- sync_run.id of the sync that the part is read for; null until one goes on with it
    reading TEXT NOT NULL, -- where its reading stands, JSON with the columns of sync_scan
    pages INTEGER NOT NULL DEFAULT 0, -- this and the counts after it: what sync_run has not counted yet
    leads_seen INTEGER NOT NULL DEFAULT 0,
    leads_inserted INTEGER NOT NULL DEFAULT 0,
    leads_updated INTEGER NOT NULL DEFAULT 0,
    leads_unchanged INTEGER NOT NULL DEFAULT 0,
    leads_held INTEGER NOT NULL DEFAULT 0,
    requests INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0,
    holder TEXT, -- random, of who reads it; null while nobody does
    ended_at TEXT, -- UTC, by our clock: when it was read to its end
    failure TEXT, -- why its reading stopped before, JSON of {code, message, hint, notBefore, stop}; null where it has not
    drift TEXT NOT NULL DEFAULT '[]' -- as in sync_scan_verdict
  ) STRICT`,

  sql`ALTER TABLE sync_scan_page RENAME TO sync_scan_page_before`,
  sql`CREATE TABLE sync_scan_page ( -- one row a page of the scan under way: what it has met, in order of reading
    part INTEGER NOT NULL DEFAULT 0, -- sync_part.part that it was read in; 0 for the list as a whole
    page INTEGER NOT NULL,
    pass INTEGER NOT NULL, -- as in sync_scan
    met TEXT NOT NULL, -- JSON array: lead.no of each lead on the page, and the id of each record that is held and no lead
    PRIMARY KEY (part, page)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO sync_scan_page SELECT 0, page, pass, met FROM sync_scan_page_before`,
  sql`DROP TABLE sync_scan_page_before`,
]
