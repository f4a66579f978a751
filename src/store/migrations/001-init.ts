/**
 * The first schema. The comments stay in the database file (`.schema lead` shows them), so they are the
 * column documentation of analysts: say what a value means, its unit and where it comes from.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE installation ( -- one row: this copy as such
    id TEXT PRIMARY KEY, -- random; part of every Message-ID, so that two installations never share one
    created_at TEXT NOT NULL -- UTC
  ) STRICT`,

  sql`CREATE TABLE stage ( -- the statuses that a lead can have, in funnel order
    status TEXT PRIMARY KEY, -- name of the status, as in lead.status
    position INTEGER NOT NULL, -- order in the funnel, from 0
    outcome TEXT NOT NULL CHECK (outcome IN ('open', 'won', 'lost', 'disqualified')), -- how a lead with this status counts: open, won, lost or disqualified
    in_funnel INTEGER NOT NULL CHECK (in_funnel IN (0, 1)) -- 1: a step on the way to being won
  ) STRICT`,

  sql`CREATE TABLE lead ( -- one row a lead, as last seen upstream
    id TEXT PRIMARY KEY, -- the upstream's identifier, digit for digit
    pipeline_id TEXT NOT NULL, -- pipeline.id
    status TEXT NOT NULL, -- stage.status
    company_name TEXT,
    company_domain TEXT, -- without scheme, such as acme.com
    company_industry TEXT,
    company_subindustry TEXT,
    company_employees ANY, -- number of people
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
    tags TEXT NOT NULL, -- JSON array of text
    created_at TEXT NOT NULL, -- UTC, by the upstream's clock
    updated_at TEXT NOT NULL, -- UTC, by the upstream's clock
    status_changed_at TEXT NOT NULL, -- UTC, by the upstream's clock; updated_at where the upstream does not tell
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when we first read it
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read the state that stands here
    removed_at TEXT, -- UTC, by our clock: gone upstream, absent from two whole scans in a row; null while there
    run_id TEXT NOT NULL, -- sync_run.id that wrote this row
    raw TEXT NOT NULL -- the record as the upstream sent it, JSON
  ) STRICT`,
  sql`CREATE INDEX lead_by_pipeline ON lead (pipeline_id, status)`,
  sql`CREATE INDEX lead_by_creation ON lead (created_at)`,
  sql`CREATE INDEX lead_by_status ON lead (status, status_changed_at)`,

  sql`CREATE TABLE lead_version ( -- one row for each state that a lead has been in
    lead_id TEXT NOT NULL REFERENCES lead (id),
    valid_from TEXT NOT NULL, -- UTC: the state began, by the upstream's clock where it says so
    valid_to TEXT, -- UTC: the state ended (not included); null for the present one
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    run_id TEXT NOT NULL, -- sync_run.id that read it
    pipeline_id TEXT NOT NULL,
    status TEXT NOT NULL,
    score ANY,
    value_amount ANY,
    value_currency TEXT,
    agent_id TEXT,
    PRIMARY KEY (lead_id, valid_from)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE pipeline ( -- one row a pipeline that a lead or a setting names
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL, -- name of the pipeline; its id until the upstream's statistics tell one
    status TEXT, -- active, paused, completed; null where the upstream does not tell
    first_seen_at TEXT NOT NULL, -- UTC, by our clock
    observed_at TEXT NOT NULL -- UTC, by our clock: when name and status were last read
  ) STRICT`,

  sql`CREATE TABLE pipeline_stat ( -- one row a reading of a pipeline's statistics, as the upstream computes them
    pipeline_id TEXT NOT NULL REFERENCES pipeline (id),
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    as_of TEXT NOT NULL, -- UTC, by the upstream's clock
    run_id TEXT NOT NULL, -- sync_run.id
    leads INTEGER, -- all leads of the pipeline's life
    open INTEGER,
    won INTEGER,
    lost INTEGER,
    disqualified INTEGER,
    win_rate REAL, -- won / (won + lost), 0 to 1
    open_value_amount ANY, -- in whole units of open_value_currency
    open_value_currency TEXT, -- ISO 4217
    won_value_amount ANY,
    won_value_currency TEXT,
    raw TEXT NOT NULL, -- the answer as the upstream sent it, JSON
    PRIMARY KEY (pipeline_id, observed_at)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE pipeline_stage_stat ( -- one row a stage of a reading in pipeline_stat
    pipeline_id TEXT NOT NULL,
    observed_at TEXT NOT NULL,
    status TEXT NOT NULL, -- stage.status
    current INTEGER NOT NULL, -- leads with this status then
    reached INTEGER NOT NULL, -- leads that ever had this status or a later one
    conversion REAL, -- reached / reached of the stage before, 0 to 1
    median_hours REAL, -- median time in the stage, of those that left it
    PRIMARY KEY (pipeline_id, observed_at, status),
    FOREIGN KEY (pipeline_id, observed_at) REFERENCES pipeline_stat (pipeline_id, observed_at)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE agent ( -- one row an agent, as last read
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT, -- such as discovery, enrichment, scoring, outreach
    status TEXT NOT NULL, -- such as running, idle, failing, paused
    status_changed_at TEXT, -- UTC, by the upstream's clock
    task_type TEXT, -- what it works on; null when it does not
    task_pipeline_id TEXT,
    task_lead_id TEXT,
    task_started_at TEXT, -- UTC
    task_progress REAL, -- 0 to 1
    last_seen_at TEXT, -- UTC, by the upstream's clock
    tasks_24h INTEGER, -- tasks done in the 24 hours before
    errors_24h INTEGER,
    last_error_at TEXT, -- UTC
    last_error_message TEXT,
    observed_at TEXT NOT NULL, -- UTC, by our clock
    gone_at TEXT, -- UTC, by our clock: no longer among the agents; null while it is
    raw TEXT NOT NULL -- the record as the upstream sent it, JSON
  ) STRICT`,

  sql`CREATE TABLE agent_reading ( -- one row an agent and reading: the time series of their states
    agent_id TEXT NOT NULL REFERENCES agent (id),
    observed_at TEXT NOT NULL, -- UTC, by our clock
    run_id TEXT NOT NULL, -- sync_run.id
    status TEXT NOT NULL,
    task_type TEXT,
    task_pipeline_id TEXT,
    tasks_24h INTEGER,
    errors_24h INTEGER,
    PRIMARY KEY (agent_id, observed_at)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE sync_run ( -- one row a sync: what it saw, changed and skipped
    id TEXT PRIMARY KEY, -- identifier of the sync; sorts by time
    started_at TEXT NOT NULL, -- UTC
    finished_at TEXT, -- UTC, by our clock: when it ended; null while it runs, and where it was killed
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')),
    parts TEXT NOT NULL, -- JSON array of leads, stats, agents, details
    outcome TEXT CHECK (outcome IN ('ok', 'ok_no_change', 'partial', 'deferred', 'failed', 'killed')),
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1)), -- 1: every part was read to its end
    leads_as_of TEXT, -- UTC: with the leads read to their end, everything changed before this instant is in
    leads_seen INTEGER NOT NULL DEFAULT 0,
    leads_inserted INTEGER NOT NULL DEFAULT 0,
    leads_updated INTEGER NOT NULL DEFAULT 0,
    leads_unchanged INTEGER NOT NULL DEFAULT 0,
    leads_removed INTEGER NOT NULL DEFAULT 0,
    leads_held INTEGER NOT NULL DEFAULT 0, -- records that could not be mapped, see held_row
    stats INTEGER NOT NULL DEFAULT 0, -- pipelines whose statistics were read
    agents INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    requests INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0,
    duration_ms INTEGER,
    problems TEXT NOT NULL DEFAULT '[]', -- JSON array of {part, code, message}
    not_before TEXT -- UTC: the upstream wants no request before this instant
  ) STRICT`,

  sql`CREATE TABLE sync_scan ( -- at most one row: where the reading of the leads stands
    resource TEXT PRIMARY KEY, -- lead
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')),
    updated_since TEXT, -- UTC: the filter of this scan; null reads all
    cursor TEXT, -- of the next page; null before the first
    started_at TEXT NOT NULL, -- UTC: when the scan began, over all runs that continue it
    seen INTEGER NOT NULL, -- distinct leads so far
    max_updated_at TEXT -- UTC: the latest updated_at so far
  ) STRICT`,

  sql`CREATE TABLE sync_scan_seen ( -- the leads met by the full scan under way
    lead_id TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE sync_watermark ( -- what the next incremental scan starts from
    resource TEXT PRIMARY KEY, -- lead
    updated_at TEXT NOT NULL, -- UTC, by the upstream's clock: everything up to here has been read
    not_before TEXT -- UTC: the upstream wants no request before this instant
  ) STRICT`,

  sql`CREATE TABLE lead_absence ( -- leads that the last whole scan did not meet; a second such scan removes them
    lead_id TEXT PRIMARY KEY REFERENCES lead (id),
    run_id TEXT NOT NULL, -- sync_run.id of that scan
    since TEXT NOT NULL -- UTC, by our clock
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE held_row ( -- records that could not be mapped, whole, until they can
    resource TEXT NOT NULL CHECK (resource IN ('lead', 'pipeline_stat', 'agent')),
    raw_sha256 TEXT NOT NULL, -- of raw, hex
    reason TEXT NOT NULL,
    raw TEXT NOT NULL, -- the record as the upstream sent it, JSON
    first_seen_at TEXT NOT NULL, -- UTC, by our clock
    last_seen_at TEXT NOT NULL, -- UTC, by our clock
    PRIMARY KEY (resource, raw_sha256)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE report_edition ( -- one row a report of a period: what it said
    id TEXT PRIMARY KEY,
    report TEXT NOT NULL, -- name of the report, as in the settings
    period_from TEXT NOT NULL, -- UTC: when the period that it covers begins
    period_to TEXT NOT NULL, -- UTC: when the period ends, not included
    time_zone TEXT NOT NULL,
    rendered_at TEXT NOT NULL, -- UTC
    run_id TEXT, -- sync_run.id of the data it shows
    figures TEXT NOT NULL, -- JSON: every number in it; the snapshot's table figure has the SQL behind them
    subject TEXT NOT NULL,
    html TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (report, period_from, period_to)
  ) STRICT`,

  sql`CREATE TABLE delivery ( -- one row a message to one recipient
    message_id TEXT PRIMARY KEY, -- the same for every attempt
    edition_id TEXT NOT NULL REFERENCES report_edition (id),
    recipient TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'data', 'sent', 'failed', 'in_doubt')),
    letter TEXT NOT NULL, -- JSON: sender, subject, bodies and date, so that every attempt sends the same
    attempts INTEGER NOT NULL DEFAULT 0,
    state_at TEXT NOT NULL, -- UTC: when the state was entered
    response TEXT, -- what the mail server said last
    UNIQUE (edition_id, recipient)
  ) STRICT`,

  sql`CREATE TABLE schedule_slot ( -- one row a due time of a schedule: what became of it
    schedule TEXT NOT NULL, -- sync, sync-full or report:<name>
    slot TEXT NOT NULL, -- UTC: when it was due
    state TEXT NOT NULL CHECK (state IN ('due', 'running', 'done', 'failed', 'skipped')),
    started_at TEXT, -- UTC
    finished_at TEXT, -- UTC
    message TEXT, -- why it failed or was skipped
    PRIMARY KEY (schedule, slot)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE lease ( -- who does a thing that only one process may do at a time
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL, -- random, one a process
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    acquired_at TEXT NOT NULL, -- UTC
    expires_at TEXT NOT NULL -- UTC; moved on while the holder works
  ) STRICT`,
]
