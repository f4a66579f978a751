/** The tables of the leads, their history and their details. */
import { fieldsWith, LEAD_FIELDS, type LeadField } from '../../domain/lead-fields.ts'

/** Writes meanings as comments after the commas, where the dictionary looks for them. */
function columnsOf(fields: readonly LeadField[]): string {
  return fields.map((field) => `${field.column} ${typeOf(field)}, -- ${field.meaning}`).join('\n    ')
}

function typeOf(field: LeadField): string {
  if (field.type === 'number') return 'isWhole' in field ? 'INTEGER' : 'REAL'
  const isText = field.type === 'text' && field.name !== 'id' && !('absent' in field)
  return isText || 'isPlanned' in field ? 'TEXT' : 'TEXT NOT NULL'
}

/** Null if the enrichment has no number or truth value there, or no whole number where one is wanted. */
function fromEnrichment(type: 'REAL' | 'INTEGER', path: string): `INTEGER GENERATED ALWAYS ${string}` {
  const kinds = type === 'REAL' ? `'integer', 'real'` : `'integer', 'true', 'false'`
  return `${type as 'INTEGER'} GENERATED ALWAYS AS (iif(json_type(enrichment, '$.${path}') IN (${kinds}), CAST(enrichment ->> '$.${path}' AS ${type}), NULL)) VIRTUAL`
}

export const LEADS = [
  `CREATE TABLE lead ( -- one row per lead, as last read; lead_raw has the record as it was sent
    no INTEGER PRIMARY KEY, -- our number of the lead, in order of arrival; never changes in this file
    ${columnsOf(LEAD_FIELDS)}
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when we first read it
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read this state
    deleted_at TEXT, -- UTC, by our clock: when it was marked as deleted, because two complete full scans did not find it, the list itself says so, or a webhook event did and it was not found; null while it exists
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    derived_version INTEGER -- null: lead_history has its states; else this row is its only state, and 1: the upstream gave status_changed_at, 0: it did not
  ) STRICT`,
  `CREATE UNIQUE INDEX lead_by_id ON lead (id)`,
  `CREATE INDEX lead_by_creation ON lead (created_at, id)`,
  // The index includes deleted_at, although deleted_at is null in all its entries. Otherwise SQLite would
  // read every row to check that deleted_at is null.
  `CREATE INDEX lead_by_score ON lead (score, deleted_at) WHERE deleted_at IS NULL`,
  // These two indexes have all columns that figures read from many leads, so that the rows themselves need not
  // be read.
  `CREATE INDEX lead_by_state ON lead (status_changed_at, status, pipeline_id, id, created_at, source, derived_version)`,
  `CREATE INDEX lead_by_change ON lead (updated_at, status, status_changed_at, pipeline_id, id, derived_version)`,
  `CREATE INDEX lead_by_expected_close ON lead (expected_close_at, status) WHERE expected_close_at IS NOT NULL`,
  `CREATE INDEX lead_by_arrival ON lead (first_seen_at, created_at, id)`,
  // Counts the leads without an update time, without reading all leads.
  `CREATE INDEX lead_undated ON lead (updated_at, observed_at, deleted_at) WHERE updated_at = observed_at AND deleted_at IS NULL`,

  `CREATE TABLE lead_raw ( -- one row per lead: its whole record, including the fields without a column in lead
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no) ON DELETE CASCADE,
    raw TEXT NOT NULL -- the record as the upstream sent it, JSON
  ) STRICT`,

  `CREATE TABLE lead_fingerprint ( -- one row per lead whose unchanged record need not be mapped again; a lead without a row is mapped anew
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL -- hash of the bytes that lead_raw.raw was sent as, 16 hex digits
  ) STRICT`,

  `CREATE TABLE declared_field ( -- one row per field that the profile declares; one that it no longer declares stays until all records are mapped again
    place INTEGER PRIMARY KEY, -- index of its values in lead_values.cells; it stays while the field keeps its name and type
    name TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('text', 'number', 'integer', 'boolean', 'time', 'date', 'json')),
    position INTEGER, -- its order in the profile; null if the profile no longer declares it
    rule TEXT NOT NULL, -- JSON of the rule that says where records have it
    meaning TEXT, -- null if the profile gives none
    is_personal INTEGER NOT NULL CHECK (is_personal IN (0, 1)),
    has_history INTEGER NOT NULL CHECK (has_history IN (0, 1)) -- 1: field_change has each change of its values
  ) STRICT`,

  `CREATE TABLE field_mapping ( -- at most one row: how far the stored records have been mapped with the declared fields
    id INTEGER PRIMARY KEY CHECK (id = 1),
    mapped_no INTEGER, -- lead.no up to which the records are mapped anew; null: all records are mapped
    mapped_at TEXT -- UTC, by our clock: when all records had been mapped anew; null before the first time
  ) STRICT`,

  `CREATE TABLE lead_values ( -- one row per lead with the values of the declared fields, in as little room as possible
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no) ON DELETE CASCADE,
    cells TEXT NOT NULL, -- JSON array, in the order of declared_field.place
    unfit TEXT -- JSON array of the places of the values that do not fit their type, and whose cells are null; null if all fit
  ) STRICT`,
  `CREATE INDEX lead_values_unfit ON lead_values (lead_no) WHERE unfit IS NOT NULL`,

  `CREATE TABLE field_change ( -- one row per change of a declared field with history: true, from the second value that we read on
    lead_id TEXT NOT NULL REFERENCES lead (id),
    field TEXT NOT NULL, -- name of the field, as the column of lead_now
    changed_at TEXT NOT NULL, -- UTC: lead.updated_at of the record with the new value; by our clock if the upstream gives no later time than before
    value_before TEXT, -- value before, as text
    value TEXT, -- value since then, as text
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    PRIMARY KEY (lead_id, field, changed_at)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX field_change_by_time ON field_change (changed_at, field)`,

  `CREATE TABLE lead_history ( -- one row per stored state of a lead; a lead unchanged since its first read has none here, but the view lead_version has all states
    lead_id TEXT NOT NULL REFERENCES lead (id),
    valid_from TEXT NOT NULL, -- UTC: when the state began; by the upstream's clock if it gives a time, by ours after a deleted lead returned
    valid_to TEXT, -- UTC: when the next state or the deletion ended it (exclusive); null for the present state; equal to valid_from if the lead was deleted then
    changed_at TEXT NOT NULL, -- UTC: earliest known lead.updated_at in this state; by our clock if the upstream gives no such time, or one that moved back
    status_changed_at TEXT, -- UTC, by the upstream's clock: when the status last changed; null if the upstream does not say
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we first read this state
    ${columnsOf(fieldsWith('hasHistory'))}
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    reached INTEGER NOT NULL DEFAULT -1, -- highest stage.position of the lead in the funnel up to this state; 0: the first stage, or no stage of the funnel; -1: its earlier statuses are not known
    PRIMARY KEY (lead_id, valid_from)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX lead_history_by_start ON lead_history (valid_from, status)`,
  `CREATE INDEX lead_history_by_end ON lead_history (valid_to) WHERE valid_to IS NOT NULL`,
  `CREATE INDEX lead_history_by_change ON lead_history (changed_at, valid_from, valid_to, status, pipeline_id)`,

  `CREATE TABLE lead_minor_update ( -- one row per update of a lead that changed no tracked field, the last 16 of each lead; it puts states that arrive late in order
    lead_id TEXT NOT NULL REFERENCES lead (id),
    changed_at TEXT NOT NULL, -- UTC, by the upstream's clock: lead.updated_at at that time
    status_changed_at TEXT, -- UTC, by the upstream's clock; null if the upstream does not say
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    PRIMARY KEY (lead_id, changed_at)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX lead_minor_update_by_time ON lead_minor_update (changed_at)`,

  `CREATE TABLE lead_deletion ( -- one row per time during which a lead was deleted in the service
    lead_id TEXT NOT NULL REFERENCES lead (id),
    deleted_since TEXT NOT NULL, -- UTC, by our clock: when it was marked as deleted, because two complete full scans did not find it, the list itself says so, or a webhook event did and it was not found
    returned_at TEXT CHECK (returned_at > deleted_since), -- UTC, by our clock: when it was found again; null while it is deleted
    run_id TEXT NOT NULL, -- sync_run.id of the sync that marked it as deleted; event:TIME if a webhook event made us ask for it at that time
    PRIMARY KEY (lead_id, deleted_since)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX lead_deletion_by_time ON lead_deletion (deleted_since)`,

  `CREATE TABLE missing_lead ( -- one row per lead that the last complete full scan did not find; a second such scan marks it as deleted
    lead_id TEXT PRIMARY KEY REFERENCES lead (id),
    run_id TEXT NOT NULL, -- sync_run.id of that scan
    since TEXT NOT NULL -- UTC, by our clock
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE stage_move ( -- one row per known change of a lead's status
    lead_id TEXT NOT NULL REFERENCES lead (id),
    moved_at TEXT NOT NULL, -- UTC: when to_status began: the upstream's own time if it gives one, otherwise that of the sync that saw it
    to_status TEXT NOT NULL, -- stage.status after the move
    from_status TEXT NOT NULL, -- stage.status before the move
    pipeline_id TEXT NOT NULL, -- pipeline.id of the lead at that time
    entered_at TEXT, -- UTC: when from_status began; null if its beginning is unknown
    days_before REAL, -- days in from_status, from entered_at to moved_at
    source TEXT NOT NULL CHECK (source IN ('version', 'activity')), -- version: two states that we read differ; activity: the activity history of the lead names it
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we first learned of it
    PRIMARY KEY (lead_id, moved_at, to_status)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX stage_move_by_time ON stage_move (moved_at, pipeline_id, to_status, from_status, entered_at, days_before)`,
  `CREATE INDEX stage_move_by_entry ON stage_move (from_status, entered_at, moved_at, pipeline_id)`,
  `CREATE INDEX stage_move_by_observation ON stage_move (observed_at, moved_at)`,

  `CREATE TABLE lead_detail ( -- one row per lead whose details were read, with the enrichment of its company
    lead_id TEXT PRIMARY KEY REFERENCES lead (id), -- lead.id
    fetched_at TEXT NOT NULL, -- UTC, by our clock: when the details were read
    lead_updated_at TEXT NOT NULL, -- UTC, by the upstream's clock: updated_at in the details; if lead.updated_at is later, the details are outdated
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    enrichment TEXT, -- result of the enrichment, JSON as the upstream sent it; null if there is none
    technologies TEXT GENERATED ALWAYS AS (enrichment ->> '$.technologies') VIRTUAL, -- technologies that the company uses, JSON array of text; null, as the columns below, if the enrichment does not say
    funding_stage TEXT GENERATED ALWAYS AS (enrichment ->> '$.funding.stage') VIRTUAL, -- stage of its funding, such as pre-seed, seed, series A, series B or growth
    funding_total_usd ${fromEnrichment('REAL', 'funding.total_usd')}, -- all funding so far, in whole units of USD
    is_hiring ${fromEnrichment('INTEGER', 'hiring.is_hiring')}, -- 1: the company has open positions, 0: it has none
    open_roles ${fromEnrichment('INTEGER', 'hiring.open_roles')}, -- number of open positions
    linkedin_followers ${fromEnrichment('INTEGER', 'social.linkedin_followers')}, -- number of followers on LinkedIn
    github_stars ${fromEnrichment('INTEGER', 'social.github_stars')}, -- number of stars on GitHub; null if the company has no open source
    technologies_confidence ${fromEnrichment('REAL', 'confidence.technologies')}, -- how sure the upstream is of technologies, 0 to 1
    funding_confidence ${fromEnrichment('REAL', 'confidence.funding')}, -- how sure the upstream is of funding_stage and funding_total_usd, 0 to 1
    hiring_confidence ${fromEnrichment('REAL', 'confidence.hiring')}, -- how sure the upstream is of is_hiring and open_roles, 0 to 1
    social_confidence ${fromEnrichment('REAL', 'confidence.social')}, -- how sure the upstream is of linkedin_followers and github_stars, 0 to 1
    raw TEXT NOT NULL -- the whole answer, JSON as the upstream sent it
  ) STRICT`,

  `CREATE TABLE activity ( -- one row per entry in the activity history of a lead; it stays when the upstream drops it
    lead_id TEXT NOT NULL REFERENCES lead (id), -- lead.id
    id TEXT NOT NULL, -- the upstream's identifier; a hash of the entry (sha256:…) if it has none
    at TEXT NOT NULL, -- UTC, by the upstream's clock: when it happened
    type TEXT, -- such as discovered, enriched, scored, status_changed, note, error
    agent_id TEXT, -- agent.id of the agent that did it
    summary TEXT, -- what happened, in words
    from_status TEXT, -- stage.status before; only for a change of status
    to_status TEXT, -- stage.status after; only for a change of status
    first_seen_at TEXT NOT NULL, -- UTC, by our clock: when we first read it
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    PRIMARY KEY (lead_id, id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX activity_by_time ON activity (at)`,

  `CREATE TABLE detail_request ( -- one row per lead whose details were requested at least once
    lead_no INTEGER PRIMARY KEY REFERENCES lead (no), -- lead.no
    asked_at TEXT NOT NULL, -- UTC, by our clock: when the details were last requested
    due_at TEXT, -- UTC, by our clock: when to request the details again; null: not before the lead changes
    failures INTEGER NOT NULL, -- number of failed requests in a row
    last_error TEXT -- why the last request failed; null if it succeeded
  ) STRICT`,
  `CREATE INDEX detail_request_by_due ON detail_request (due_at, failures)`,

  `CREATE TABLE lead_day ( -- one row per UTC day and state: the leads that entered that state on that day, minus those that left it; the sum of all earlier days is how many leads were in that state when a day began
    day TEXT NOT NULL, -- UTC: date, such as 2026-11-20
    pipeline_id TEXT NOT NULL, -- pipeline.id
    status TEXT NOT NULL, -- stage.status; empty from the creation of a lead until its first known state
    value_currency TEXT NOT NULL, -- ISO 4217; empty for leads without a value or without a currency
    is_known INTEGER NOT NULL, -- 1: the leads were read as they were then; 0: they were first read after a later update, which may have changed their value
    reached INTEGER NOT NULL, -- highest stage.position of the leads in the funnel; 0: the first stage, or no stage of the funnel; -1: their earlier statuses are not known; -2: only their moves tell them
    leads INTEGER NOT NULL, -- number of leads that entered the state, minus those that left it
    entered INTEGER NOT NULL, -- number of leads that entered it
    value_amount REAL NOT NULL, -- sum of the values of leads, in whole units of value_currency
    PRIMARY KEY (pipeline_id, status, value_currency, is_known, reached, day)
  ) STRICT, WITHOUT ROWID`,
] as const
