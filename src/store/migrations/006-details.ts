/** The details of leads: what enrichment found out, their activity, and which of them are to be asked for again. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE lead_detail ( -- one row a lead whose details were read: what enrichment found out about its company
    lead_id TEXT PRIMARY KEY REFERENCES lead (id), -- lead.id
    fetched_at TEXT NOT NULL, -- UTC, by our clock: when the details were read
    lead_updated_at TEXT NOT NULL, -- UTC, by the upstream's clock: lead.updated_at as the details have it; where that of lead is later, they are outdated
    run_id TEXT NOT NULL, -- sync_run.id that read them
    enrichment TEXT, -- what enrichment found out, JSON as the upstream sent it; null where there is nothing
    technologies TEXT GENERATED ALWAYS AS (enrichment ->> '$.technologies') VIRTUAL, -- what the company works with, JSON array of text; null, as the columns after it, where enrichment does not tell
    funding_stage TEXT GENERATED ALWAYS AS (enrichment ->> '$.funding.stage') VIRTUAL, -- pre-seed, seed, series A, series B, growth
    funding_total_usd ANY GENERATED ALWAYS AS (enrichment ->> '$.funding.total_usd') VIRTUAL, -- all funding so far, in whole units of USD
    is_hiring ANY GENERATED ALWAYS AS (enrichment ->> '$.hiring.is_hiring') VIRTUAL, -- 1: the company has open positions, 0: it has none
    open_roles ANY GENERATED ALWAYS AS (enrichment ->> '$.hiring.open_roles') VIRTUAL, -- number of open positions
    linkedin_followers ANY GENERATED ALWAYS AS (enrichment ->> '$.social.linkedin_followers') VIRTUAL, -- number of people
    github_stars ANY GENERATED ALWAYS AS (enrichment ->> '$.social.github_stars') VIRTUAL, -- number of stars; null without open source
    technologies_confidence ANY GENERATED ALWAYS AS (enrichment ->> '$.confidence.technologies') VIRTUAL, -- how sure the upstream is of technologies, 0 to 1
    funding_confidence ANY GENERATED ALWAYS AS (enrichment ->> '$.confidence.funding') VIRTUAL, -- how sure it is of funding_stage and funding_total_usd, 0 to 1
    hiring_confidence ANY GENERATED ALWAYS AS (enrichment ->> '$.confidence.hiring') VIRTUAL, -- how sure it is of is_hiring and open_roles, 0 to 1
    social_confidence ANY GENERATED ALWAYS AS (enrichment ->> '$.confidence.social') VIRTUAL, -- how sure it is of linkedin_followers and github_stars, 0 to 1
    raw TEXT NOT NULL -- the whole answer, JSON as the upstream sent it
  ) STRICT`,

  sql`CREATE TABLE activity ( -- one row an entry in the activity history of a lead; kept when the upstream drops it
    lead_id TEXT NOT NULL REFERENCES lead (id), -- lead.id
    id TEXT NOT NULL, -- the upstream's identifier; made of the entry (sha256:…) where it has none
    at TEXT NOT NULL, -- UTC, by the upstream's clock: when it happened
    type TEXT, -- such as discovered, enriched, scored, status_changed, note, error
    agent_id TEXT, -- agent.id that did it
    summary TEXT, -- what happened, in words
    from_status TEXT, -- stage.status before a change of status
    to_status TEXT, -- stage.status after it
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when we first read it
    run_id TEXT NOT NULL, -- sync_run.id that first read it
    PRIMARY KEY (lead_id, id)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX activity_by_time ON activity (at)`,

  sql`CREATE TABLE detail_queue ( -- one row a lead whose details were asked for; one without a row is still to be asked for
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no), -- lead.no
    asked_at TEXT NOT NULL, -- UTC, by our clock: when they were last asked for
    due_at TEXT, -- UTC, by our clock: when they are to be asked for again; null until the lead changes
    failures INTEGER NOT NULL, -- failures in a row
    last_error TEXT -- why the last one failed; null where it did not
  ) STRICT`,
  // With removed_at, though it is null in each entry, or SQLite would look into every row for it.
  sql`CREATE INDEX lead_by_score ON lead (score, removed_at) WHERE removed_at IS NULL`,

  sql`ALTER TABLE sync_run ADD COLUMN details_read INTEGER -- leads whose details were read
    NOT NULL DEFAULT 0`,
  sql`ALTER TABLE sync_run ADD COLUMN details_gone INTEGER -- leads that the upstream no longer knew when asked for their details
    NOT NULL DEFAULT 0`,
  sql`ALTER TABLE sync_run ADD COLUMN details_failed INTEGER -- leads whose details could not be read
    NOT NULL DEFAULT 0`,

  sql`DROP INDEX held_row_by_record`,
  sql`ALTER TABLE held_row RENAME TO held_row_before`,
  sql`CREATE TABLE held_row ( -- records that could not be mapped, until they can
    resource TEXT NOT NULL CHECK (resource IN ('lead', 'pipeline_stat', 'agent', 'activity')), -- what the record is of
    raw_sha256 TEXT NOT NULL, -- of raw, hex
    record_id TEXT, -- the id of the record, of an activity that of its lead; null where it has none
    reason TEXT NOT NULL, -- why it could not be read
    raw TEXT NOT NULL, -- the record as the upstream sent it, JSON; how it begins where is_whole is 0
    is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1)), -- 0: too large or too deeply nested to keep
    first_seen_at TEXT NOT NULL, -- UTC, by our clock
    last_seen_at TEXT NOT NULL, -- UTC, by our clock
    PRIMARY KEY (resource, raw_sha256)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO held_row SELECT resource, raw_sha256, record_id, reason, raw, is_whole, first_seen_at, last_seen_at
    FROM held_row_before`,
  sql`DROP TABLE held_row_before`,
  sql`CREATE INDEX held_row_by_record ON held_row (resource, record_id)`,
]
