/** The tables of syncs, their scans of the list of leads, and quarantined records. */

export const SYNC = [
  `CREATE TABLE sync_run ( -- one row per sync: what it saw, changed and skipped
    id TEXT PRIMARY KEY, -- identifier of the sync; sorts by time
    started_at TEXT NOT NULL, -- UTC, by our clock: when it began
    finished_at TEXT, -- UTC, by our clock: when it ended; null while it runs, or if it was killed
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')), -- full: reads all leads; incremental: reads the leads that changed since the sync before
    parts TEXT NOT NULL, -- JSON array of the parts that it reads: leads, stats, agents, details
    outcome TEXT CHECK (outcome IN ('ok', 'ok_no_change', 'partial', 'deferred', 'failed', 'killed')), -- ok, ok_no_change, partial, deferred, failed or killed; null while running
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1)), -- 1: every part was read to the end; 0: it was not
    leads_as_of TEXT, -- UTC: every change before this time is in the copy; null if the leads were not read to the end
    leads_seen INTEGER NOT NULL DEFAULT 0, -- distinct leads read
    leads_inserted INTEGER NOT NULL DEFAULT 0, -- leads that were new
    leads_updated INTEGER NOT NULL DEFAULT 0, -- leads that had changed
    leads_unchanged INTEGER NOT NULL DEFAULT 0, -- leads that were unchanged
    leads_deleted INTEGER NOT NULL DEFAULT 0, -- leads that were marked as deleted
    leads_quarantined INTEGER NOT NULL DEFAULT 0, -- records that could not be mapped; quarantined_record has them
    stats INTEGER NOT NULL DEFAULT 0, -- pipelines whose statistics were read
    agents INTEGER NOT NULL DEFAULT 0, -- agents read
    pages INTEGER NOT NULL DEFAULT 0, -- pages of leads read
    requests INTEGER NOT NULL DEFAULT 0, -- requests that were sent, retries included
    retries INTEGER NOT NULL DEFAULT 0, -- requests that were sent again after a failure
    duration_ms INTEGER, -- how long the sync took
    problems TEXT NOT NULL DEFAULT '[]', -- JSON array of {part, code, message}
    not_before TEXT, -- UTC: the upstream asked for no requests before this time
    details_read INTEGER NOT NULL DEFAULT 0, -- leads whose details were read
    details_not_found INTEGER NOT NULL DEFAULT 0, -- leads that no longer existed upstream when their details were requested
    details_failed INTEGER NOT NULL DEFAULT 0 -- leads whose details could not be read
  ) STRICT`,

  `CREATE TABLE sync_watermark ( -- at most one row: the time up to which changes are read; the next incremental scan begins a little before it
    resource TEXT PRIMARY KEY, -- lead
    updated_at TEXT NOT NULL, -- UTC, by the upstream's clock: all changes up to this time have been read; empty if no scan has ended yet
    not_before TEXT, -- UTC: the upstream asked for no requests before this time
    has_undated INTEGER NOT NULL DEFAULT 0 CHECK (has_undated IN (0, 1)) -- 1: the last complete full scan left leads without an update time, which a list of changes may lack; 0: it left none
  ) STRICT`,

  `CREATE TABLE sync_scan ( -- at most one row: the progress of the scan of leads under way
    resource TEXT PRIMARY KEY, -- lead
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')),
    profile_sha256 TEXT NOT NULL, -- upstream_profile.sha256 of the profile that the scan uses
    is_remap INTEGER NOT NULL CHECK (is_remap IN (0, 1)), -- 1: the profile changed, so that unchanged records are mapped anew
    updated_since TEXT, -- UTC: the scan reads leads updated since this time; null: all leads
    started_at TEXT NOT NULL, -- UTC: when the scan began, over all runs that continue it
    progress_at TEXT NOT NULL, -- UTC, by our clock: when the scan last stored a page; its start before the first page
    page_size INTEGER NOT NULL, -- records that each page was asked for with
    max_updated_at TEXT, -- UTC: latest updated_at of the leads read so far
    seen INTEGER NOT NULL DEFAULT 0, -- number of distinct leads read so far
    pages INTEGER NOT NULL DEFAULT 0,
    reported_total INTEGER, -- last total of the whole scan that the upstream reported; null if it reports none
    moved INTEGER NOT NULL DEFAULT 0, -- how many pages showed that records had moved from one page to another while the list was read
    cleaned INTEGER NOT NULL DEFAULT 0, -- leads with a text that leadsheet cleaned, or with a placeholder in place of a time
    cut INTEGER NOT NULL DEFAULT 0, -- texts of more than 64 kB, which leadsheet cut
    passes_without_new INTEGER NOT NULL DEFAULT 0, -- number of passes in a row, just before this pass, that verified the list and found no lead that earlier passes had missed
    pass INTEGER NOT NULL DEFAULT 1, -- 1 is the first reading of the list; further ones verify it
    pass_since TEXT, -- UTC: this pass reads leads updated since this time; null: all leads
    cursor TEXT, -- cursor of the next page of this pass; null before the first page
    pass_seen INTEGER NOT NULL DEFAULT 0, -- distinct leads read in this pass
    pass_new INTEGER NOT NULL DEFAULT 0, -- number of them that no earlier pass found, although they were created before the scan began
    pass_uncounted INTEGER NOT NULL DEFAULT 0, -- records of this pass that the upstream's total counts, but that are no found leads: without an id, or marked as deleted
    pass_pages INTEGER NOT NULL DEFAULT 0,
    pass_moved INTEGER NOT NULL DEFAULT 0,
    is_broken INTEGER NOT NULL DEFAULT 0, -- 1: in this pass records moved further than pages overlap; 0: they did not
    is_unordered INTEGER NOT NULL DEFAULT 0, -- 1: in this pass unchanged records stood in another order than before; 0: they did not
    partial_sign TEXT, -- what the first page of this pass that is not whole says of itself, with its number; null if no page says so
    hole_page INTEGER, -- the first page of this pass that has leads behind a page that seemed to be the last; null if none has
    first_rows INTEGER NOT NULL DEFAULT 0, -- records on the first page of this pass
    idle_pages INTEGER NOT NULL DEFAULT 0, -- pages in a row that brought no lead new to this pass
    last_rows INTEGER NOT NULL DEFAULT 0, -- number of records on the last page read
    largest_page INTEGER NOT NULL DEFAULT 0, -- records on the fullest page of this scan
    tail TEXT NOT NULL DEFAULT '[]', -- JSON array of the ids that the next page must contain again
    total_low INTEGER, -- lowest total that the upstream reported in this pass; null if it reported none
    total_high INTEGER -- highest total that the upstream reported in this pass; null if it reported none
  ) STRICT`,

  `CREATE TABLE sync_scan_page ( -- one row per page of the scan under way: the records found there
    page INTEGER PRIMARY KEY,
    pass INTEGER NOT NULL, -- as in sync_scan
    seen TEXT NOT NULL -- JSON array: lead.no of each lead on the page, and the id of each quarantined record without a row in lead
  ) STRICT`,

  `CREATE TABLE sync_scan_older ( -- one row per lead of which the full scan under way has found only a record older than the stored one; the record replaces the stored one if the scan turns out complete
    lead_no INTEGER PRIMARY KEY, -- lead.no
    raw TEXT NOT NULL -- JSON of the record
  ) STRICT`,

  `CREATE TABLE sync_scan_result ( -- one row per sync that read leads: how far its scan got, and how far it can be trusted
    run_id TEXT PRIMARY KEY REFERENCES sync_run (id), -- sync_run.id of the sync
    mode TEXT NOT NULL CHECK (mode IN ('incremental', 'full')), -- full: reads all leads; incremental: reads the leads that changed since the sync before
    started_at TEXT NOT NULL, -- UTC: when the scan began, possibly in an earlier sync
    ended_at TEXT NOT NULL, -- UTC, by our clock: when reading the leads ended
    result TEXT NOT NULL CHECK (result IN ('complete', 'incomplete', 'unproven')), -- complete: read to the end, nothing speaks against it; unproven: a lead may be missing; incomplete: not read to the end, or in part
    stop TEXT NOT NULL CHECK (stop IN ('end', 'empty_page', 'past_end', 'loop', 'page_cap', 'no_cursor', 'failed', 'interrupted')), -- why the scan ended: end, empty_page or past_end (all read), loop, page_cap, no_cursor, failed or interrupted
    reported_total INTEGER, -- the last total that the upstream reported; null if it reports none
    distinct_leads INTEGER NOT NULL, -- distinct leads read
    pages INTEGER NOT NULL, -- pages read, over all passes and syncs of the scan
    passes INTEGER NOT NULL, -- passes over the list; those after the first verify it
    moved INTEGER NOT NULL, -- how many pages showed that records had moved from one page to another while the list was read
    cleaned INTEGER NOT NULL, -- leads with a text that leadsheet cleaned, or with a placeholder in place of a time
    cut INTEGER NOT NULL, -- texts of more than 64 kB, which leadsheet cut
    warnings TEXT NOT NULL, -- JSON array of text: oddities that did not fail the sync
    drift TEXT NOT NULL, -- JSON array of {change, path, types}: fields that are new, missing or of another type
    held_back INTEGER NOT NULL DEFAULT 0 -- missing leads that were not marked as deleted, because there were implausibly many; else 0
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE sync_dropped_index ( -- one row per index that the first load of all leads dropped, to create it again when the load ends; last, without a name, the statement that counts all leads
    name TEXT PRIMARY KEY,
    sql TEXT NOT NULL -- the statement that creates it again
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE field_seen ( -- one row per field of the lead records, mapped or not, from a sample of the records on each page
    path TEXT PRIMARY KEY, -- path in the record, such as company.name; [] stands for the items of a list
    types TEXT NOT NULL, -- JSON array of the types that its values had: string, number, boolean, object, array
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when a record first had it
    last_seen_at TEXT NOT NULL, -- UTC, by our clock: when a record last had it
    missing_since TEXT, -- UTC, by our clock: since when no record has it; null while records have it
    records INTEGER NOT NULL, -- records examined since it was first seen
    count INTEGER NOT NULL, -- how many of these records have it
    nulls INTEGER NOT NULL, -- in how many of the records that have it, it is null
    null_share REAL GENERATED ALWAYS AS (CAST(nulls AS REAL) / count) VIRTUAL -- nulls / count, 0 to 1
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE quarantined_record ( -- one row per quarantined record: leadsheet could not map it, and keeps it until it can
    resource TEXT NOT NULL CHECK (resource IN ('lead', 'pipeline_stat', 'agent', 'activity')), -- kind of record: lead, pipeline_stat, agent or activity
    raw_sha256 TEXT NOT NULL, -- SHA-256 of raw, in hex
    record_id TEXT, -- id of the record; for an activity, the id of its lead; null if the record has no id
    reason TEXT NOT NULL, -- why it could not be mapped
    raw TEXT NOT NULL, -- the record as the upstream sent it, JSON; only the beginning if is_whole is 0
    is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1)), -- 1: raw is the whole record; 0: the record was too large or too deeply nested
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when it was first read
    last_seen_at TEXT NOT NULL, -- UTC, by our clock: when it was last read
    PRIMARY KEY (resource, raw_sha256)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX quarantined_record_by_record ON quarantined_record (resource, record_id)`,
  `CREATE INDEX quarantined_record_by_sight ON quarantined_record (resource, last_seen_at)`,

  `CREATE TABLE upstream_profile ( -- one row: the profile with which all leads were last read completely
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sha256 TEXT NOT NULL, -- SHA-256, in hex, of the parts of the profile that decide what is read and how it is mapped
    since TEXT NOT NULL -- UTC, by our clock: when the first complete scan with this profile ended
  ) STRICT`,

  `CREATE TABLE upstream_address ( -- one row: the list from which the leads in the copy were read
    id INTEGER PRIMARY KEY CHECK (id = 1),
    address TEXT NOT NULL -- host, path and account of the list, without scheme and secrets
  ) STRICT`,

  `CREATE TABLE pruned ( -- one row per table whose old rows were pruned: of the samples of a day the first stays, and each that began a new status
    table_name TEXT NOT NULL PRIMARY KEY, -- the table from which rows were deleted
    before TEXT NOT NULL, -- UTC: rows before this time were pruned
    pruned_at TEXT NOT NULL, -- UTC, by our clock: when the table was last pruned
    rows INTEGER NOT NULL -- how many rows were deleted in total
  ) STRICT, WITHOUT ROWID`,
] as const
