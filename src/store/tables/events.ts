/** The tables of the events that the upstream sends by webhook. */

export const EVENTS = [
  `CREATE TABLE event ( -- one row per event that the upstream sent by webhook; kept for a week
    id TEXT PRIMARY KEY, -- the upstream's identifier; a hash of the event (sha256:…) if it has none
    type TEXT, -- type in the upstream's words, such as lead.status_changed; null if the upstream does not say
    occurred_at TEXT, -- UTC, by the upstream's clock; null if the upstream does not say
    received_at TEXT NOT NULL, -- UTC, by our clock: when the event first arrived
    repeats INTEGER NOT NULL DEFAULT 0, -- number of times that the same event arrived again; repeats are ignored
    resource TEXT CHECK (resource IN ('lead', 'pipeline', 'agents')), -- kind of record that the event is about; null if leadsheet keeps no such records
    resource_id TEXT NOT NULL, -- lead.id or pipeline.id; empty for all agents
    done_at TEXT, -- UTC, by our clock: when the event was finished; null while it waits
    outcome TEXT CHECK (outcome IN ('inserted', 'updated', 'unchanged', 'deleted', 'not_found', 'read', 'ignored', 'unreadable', 'failed')), -- inserted, updated, unchanged, deleted: what the event did to its lead; not_found: the upstream no longer had the lead; read: a sync read the lead, or pipelines or agents were read; ignored: leadsheet keeps no such records; unreadable: the record could not be mapped; failed: given up after several failures; null while it waits
    problem TEXT -- why the outcome is unreadable or failed; null for other outcomes
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX event_by_time ON event (received_at, resource, outcome)`,
  `CREATE INDEX event_waiting ON event (resource, resource_id) WHERE done_at IS NULL`,

  `CREATE TABLE event_queue ( -- one row per lead or pipeline to read because of events, and one for all agents
    resource TEXT NOT NULL CHECK (resource IN ('lead', 'pipeline', 'agents')),
    resource_id TEXT NOT NULL, -- as in event
    asked_at TEXT NOT NULL, -- UTC, by our clock: when the first event that waits for this row arrived
    last_at TEXT NOT NULL, -- UTC, by our clock: when the last such event arrived
    events INTEGER NOT NULL, -- number of events since the last read
    is_deletion INTEGER NOT NULL CHECK (is_deletion IN (0, 1)), -- 1: an event says that the lead was deleted; 0: none does
    not_before TEXT, -- UTC, by our clock: earliest time of the next attempt after a failure; null without a failure
    failures INTEGER NOT NULL, -- number of failures in a row
    PRIMARY KEY (resource, resource_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX event_queue_by_time ON event_queue (asked_at)`,
] as const
