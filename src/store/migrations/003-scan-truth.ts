/**
 * How far each scan of the leads can be trusted, what fields records have, and held rows that can be retried.
 * A scan under way is given up: the next sync begins it anew.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`DROP TABLE sync_scan_seen`,
  sql`DROP TABLE sync_scan`,

  sql`CREATE TABLE sync_scan ( -- at most one row: where the reading of the leads stands
    resource TEXT PRIMARY KEY, -- lead
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')),
    profile_sha256 TEXT NOT NULL, -- upstream_profile.sha256 of the profile that reads it
    is_remap INTEGER NOT NULL CHECK (is_remap IN (0, 1)), -- 1: the profile changed, so that unchanged records are mapped anew
    updated_since TEXT, -- UTC: the filter of this scan; null reads all
    started_at TEXT NOT NULL, -- UTC: when the scan began, over all runs that continue it
    max_updated_at TEXT, -- UTC: the latest updated_at so far
    seen INTEGER NOT NULL DEFAULT 0, -- distinct leads so far
    pages INTEGER NOT NULL DEFAULT 0,
    reported_total INTEGER, -- what the upstream last called the total of the whole scan
    moved INTEGER NOT NULL DEFAULT 0, -- how often rows were seen to move from page to page
    mended INTEGER NOT NULL DEFAULT 0, -- leads with text that had to be cleaned or times that stood for none
    cut INTEGER NOT NULL DEFAULT 0, -- texts of more than 64 kB
    quiet_passes INTEGER NOT NULL DEFAULT 0, -- passes in a row before this one that met no lead the ones before them could have met
    pass INTEGER NOT NULL DEFAULT 1, -- 1 is the first reading of the list; further ones verify it
    pass_since TEXT, -- UTC: the filter of this pass
    cursor TEXT, -- of the next page of this pass; null before the first
    pass_seen INTEGER NOT NULL DEFAULT 0, -- distinct leads met in this pass
    pass_new INTEGER NOT NULL DEFAULT 0, -- of them, those that no earlier pass met though they are older than the scan
    pass_held INTEGER NOT NULL DEFAULT 0, -- records of this pass without an id
    pass_pages INTEGER NOT NULL DEFAULT 0,
    pass_moved INTEGER NOT NULL DEFAULT 0,
    is_broken INTEGER NOT NULL DEFAULT 0, -- 1: in this pass rows moved further than pages overlap
    first_rows INTEGER NOT NULL DEFAULT 0, -- records on the first page of this pass
    idle_pages INTEGER NOT NULL DEFAULT 0, -- pages in a row that brought no lead new to this pass
    last_rows INTEGER NOT NULL DEFAULT 0, -- records on the page before
    largest_page INTEGER NOT NULL DEFAULT 0, -- records on the fullest page of this scan
    tail TEXT NOT NULL DEFAULT '[]', -- JSON array of the ids that the next page must show again
    total_low INTEGER, -- the least and the most that the upstream called its total in this pass
    total_high INTEGER
  ) STRICT`,

  sql`CREATE TABLE sync_scan_seen ( -- the leads met by the scan under way
    lead_id TEXT PRIMARY KEY,
    pass INTEGER NOT NULL -- the last pass that met it
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE sync_scan_verdict ( -- one row a run that read leads: how far its scan got and can be trusted
    run_id TEXT PRIMARY KEY REFERENCES sync_run (id),
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')),
    started_at TEXT NOT NULL, -- UTC: when the scan began, perhaps in an earlier run
    ended_at TEXT NOT NULL, -- UTC
    verdict TEXT NOT NULL CHECK (verdict IN ('complete', 'incomplete', 'unproven')), -- complete: read to the end, and nothing lost; unproven: the list did not hold still; incomplete: not read to the end; only a complete scan marks leads removed and moves leads_as_of on
    stop TEXT NOT NULL, -- why it ended: end, empty_page, past_end, loop, page_cap, no_cursor, failed, interrupted
    reported_total INTEGER, -- what the upstream last called its total; null where it does not
    distinct_leads INTEGER NOT NULL, -- distinct leads met
    pages INTEGER NOT NULL, -- pages of all passes and runs
    passes INTEGER NOT NULL, -- readings of the list; those after the first verify
    moved INTEGER NOT NULL, -- how often rows were seen to move from page to page
    mended INTEGER NOT NULL, -- leads with text that had to be cleaned or times that stood for none
    cut INTEGER NOT NULL, -- texts of more than 64 kB
    warnings TEXT NOT NULL, -- JSON array of text: what is odd and did not fail the run
    drift TEXT NOT NULL -- JSON array of {change, path, types}: fields that are new, vanished or of another type
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE field_seen ( -- one row a field of the lead records, mapped or not, from a sample of each page
    path TEXT PRIMARY KEY, -- where it is in the record, such as company.name; [] stands for the elements of a list
    types TEXT NOT NULL, -- types that its values had, JSON array of string, number, boolean, object, array
    first_seen_at TEXT NOT NULL, -- UTC, by our clock
    last_seen_at TEXT NOT NULL, -- UTC, by our clock
    gone_since TEXT, -- UTC, by our clock: records no longer have it; null while they do
    records INTEGER NOT NULL, -- records looked at since it was first seen
    count INTEGER NOT NULL, -- of them, records that have it
    nulls INTEGER NOT NULL, -- of these, records in which it is null
    null_share REAL GENERATED ALWAYS AS (CAST(nulls AS REAL) / count) VIRTUAL -- 0 to 1
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE upstream_profile ( -- one row: the profile by which the copy was last read from one end to the other
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sha256 TEXT NOT NULL, -- of its parts that decide what is read and how it is mapped, hex
    since TEXT NOT NULL -- UTC, by our clock
  ) STRICT`,

  sql`ALTER TABLE held_row RENAME TO held_row_before`,
  sql`CREATE TABLE held_row ( -- records that could not be mapped, until they can
    resource TEXT NOT NULL CHECK (resource IN ('lead', 'pipeline_stat', 'agent')),
    raw_sha256 TEXT NOT NULL, -- of raw, hex
    record_id TEXT, -- the id of the record; null where it has none
    reason TEXT NOT NULL,
    raw TEXT NOT NULL, -- the record as the upstream sent it, JSON; how it begins where is_whole is 0
    is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1)), -- 0: too large or too deeply nested to keep
    first_seen_at TEXT NOT NULL, -- UTC, by our clock
    last_seen_at TEXT NOT NULL, -- UTC, by our clock
    PRIMARY KEY (resource, raw_sha256)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO held_row
    SELECT resource, raw_sha256, record_id, reason, raw, 1, first_seen_at, last_seen_at FROM held_row_before`,
  sql`DROP TABLE held_row_before`,
  sql`CREATE INDEX held_row_by_record ON held_row (resource, record_id)`,
]
