/**
 * Leads in narrow rows, numbered, with the records as sent in a table of their own; a scan under way in one row a
 * page. Such a scan is given up: the next sync begins it anew, and reads every record once more.
 */
import { type Kysely, sql } from 'kysely'

/** Foreign keys must be off: they are to point at the new table, which is made under the old one's name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`DROP INDEX lead_by_pipeline`,
  sql`DROP INDEX lead_by_creation`,
  sql`DROP INDEX lead_by_status`,
  // Else the foreign keys of other tables would go along with the new name.
  sql`PRAGMA legacy_alter_table = ON`,
  sql`ALTER TABLE lead RENAME TO lead_before`,
  sql`PRAGMA legacy_alter_table = OFF`,

  sql`CREATE TABLE lead ( -- one row a lead, as last seen upstream; the record as sent is in lead_raw
    no INTEGER PRIMARY KEY, -- our number of the lead, in order of arrival; the same for ever in this file
    id TEXT NOT NULL, -- the upstream's identifier, digit for digit; unique
    pipeline_id TEXT NOT NULL, -- pipeline.id
    status TEXT NOT NULL, -- stage.status
    company_name TEXT,
    company_domain TEXT, -- web address of the company without scheme, such as acme.com
    company_industry TEXT,
    company_subindustry TEXT,
    company_employees ANY, -- number of people who work there
    company_city TEXT,
    company_country TEXT,
    company_region TEXT,
    company_one_liner TEXT, -- what the company says of itself
    contact_name TEXT,
    contact_title TEXT,
    contact_email TEXT,
    score ANY, -- 0 to 100, null until scored
    value_amount ANY, -- expected deal value in whole units of value_currency
    value_currency TEXT, -- ISO 4217
    source TEXT, -- where the discovering agent found the company
    agent_id TEXT, -- agent.id, the last to work on it
    tags TEXT NOT NULL, -- the upstream's tags, JSON array of text
    created_at TEXT NOT NULL, -- UTC, by the upstream's clock
    updated_at TEXT NOT NULL, -- UTC, by the upstream's clock
    status_changed_at TEXT NOT NULL, -- UTC, by the upstream's clock: when the status began; updated_at where the upstream does not tell
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when we first read it
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read the state that stands here
    removed_at TEXT, -- UTC, by our clock: gone upstream, absent from two whole scans in a row; null while there
    run_id TEXT NOT NULL -- sync_run.id that wrote this row
  ) STRICT`,
  sql`INSERT INTO lead SELECT rowid, id, pipeline_id, status, company_name, company_domain, company_industry,
    company_subindustry, company_employees, company_city, company_country, company_region, company_one_liner,
    contact_name, contact_title, contact_email, score, value_amount, value_currency, source, agent_id, tags,
    created_at, updated_at, status_changed_at, first_seen_at, observed_at, removed_at, run_id
    FROM lead_before ORDER BY rowid`,
  sql`CREATE UNIQUE INDEX lead_by_id ON lead (id)`,
  sql`CREATE INDEX lead_by_pipeline ON lead (pipeline_id, status)`,
  sql`CREATE INDEX lead_by_creation ON lead (created_at)`,
  sql`CREATE INDEX lead_by_status ON lead (status, status_changed_at)`,

  sql`CREATE TABLE lead_raw ( -- one row a lead: its record, with what no column of lead has
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no) ON DELETE CASCADE,
    raw TEXT NOT NULL -- the record as the upstream sent it, JSON
  ) STRICT`,
  sql`INSERT INTO lead_raw SELECT rowid, raw FROM lead_before ORDER BY rowid`,
  sql`DROP TABLE lead_before`,

  sql`CREATE TABLE lead_fingerprint ( -- by what a lead is known again unread; without a row, it is read anew
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL -- hash of the bytes that lead_raw.raw was sent as, 16 hex digits
  ) STRICT`,

  sql`DELETE FROM sync_scan`,
  sql`DROP TABLE sync_scan_seen`,
  sql`CREATE TABLE sync_scan_page ( -- one row a page of the scan under way: what it has met, in order of reading
    page INTEGER PRIMARY KEY,
    pass INTEGER NOT NULL, -- as in sync_scan
    met TEXT NOT NULL -- JSON array: lead.no of each lead on the page, and the id of each record that is held and no lead
  ) STRICT`,

  sql`CREATE TABLE sync_dropped_index ( -- indexes that the first load of all leads put aside until it has ended
    name TEXT PRIMARY KEY,
    sql TEXT NOT NULL -- its definition
  ) STRICT, WITHOUT ROWID`,
]
