/** The tables of the events that the upstream sends by webhook. Triggers keep event_count up to date. */
import { sql } from 'kysely'

const COUNT = sql`INSERT INTO event_count
      VALUES (substr(new.received_at, 1, 13), new.outcome, 1,
        ifnull(max(0, unixepoch(new.done_at, 'subsec') - unixepoch(new.received_at, 'subsec')), 0))
      ON CONFLICT DO UPDATE SET events = events + 1, seconds = seconds + excluded.seconds`

export const EVENTS = [
  sql`CREATE TABLE event ( -- one row per event that the upstream has told of by a webhook, for a week
    id TEXT PRIMARY KEY, -- the upstream's identifier; made of the event (sha256:…) where it has none
    type TEXT, -- in the upstream's words, such as lead.status_changed; null where it does not tell
    occurred_at TEXT, -- UTC, by the upstream's clock; null if the upstream does not say
    received_at TEXT NOT NULL, -- UTC, by our clock: when it first came
    repeats INTEGER NOT NULL DEFAULT 0, -- how often it came again, which changes nothing
    resource TEXT CHECK (resource IN ('lead', 'pipeline', 'agents')), -- what it is about; null where that is nothing that is kept
    resource_id TEXT NOT NULL, -- lead.id or pipeline.id; empty for all agents
    done_at TEXT, -- UTC, by our clock: when what it told of was in the copy; null while it waits
    outcome TEXT CHECK (outcome IN ('inserted', 'updated', 'unchanged', 'deleted', 'not_found', 'read', 'ignored', 'unreadable', 'failed')), -- of a lead what became of it (not_found: the upstream no longer knew it; read: by a sync), of others read; ignored: about nothing that is kept; null while it waits
    problem TEXT -- why it could not be mapped or followed; null where it could
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX event_by_time ON event (received_at, resource)`,
  sql`CREATE INDEX event_waiting ON event (resource, resource_id) WHERE done_at IS NULL`,

  sql`CREATE TABLE event_queue ( -- one row for each that is to be read since an event told of it, however many events did
    resource TEXT NOT NULL CHECK (resource IN ('lead', 'pipeline', 'agents')),
    resource_id TEXT NOT NULL, -- as in event
    asked_at TEXT NOT NULL, -- UTC, by our clock: when the first event came that waits for it
    last_at TEXT NOT NULL, -- UTC, by our clock: when the last one came
    events INTEGER NOT NULL, -- how many came since it was last read
    is_deletion INTEGER NOT NULL CHECK (is_deletion IN (0, 1)), -- 1: one of them says that the lead was deleted
    record TEXT, -- the record of the lead, JSON as the latest event had it; null where it is asked for
    record_at TEXT, -- event.occurred_at of the one that had it
    not_before TEXT, -- UTC, by our clock: not to be asked for until then, since it failed
    failures INTEGER NOT NULL, -- failures in a row
    PRIMARY KEY (resource, resource_id)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX event_queue_by_time ON event_queue (asked_at)`,

  sql`CREATE TABLE event_count ( -- one row per hour and outcome: the events that came in that hour and are done with
    hour TEXT NOT NULL, -- UTC, such as 2026-11-21T14
    outcome TEXT NOT NULL, -- as in event
    events INTEGER NOT NULL, -- number of events
    seconds REAL NOT NULL, -- sum of the times from when each came to when what it told of was in the copy
    PRIMARY KEY (hour, outcome)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE TRIGGER event_count_insert AFTER INSERT ON event WHEN new.outcome IS NOT NULL BEGIN ${COUNT}; END`,
  sql`CREATE TRIGGER event_count_update AFTER UPDATE OF outcome ON event
    WHEN old.outcome IS NULL AND new.outcome IS NOT NULL BEGIN ${COUNT}; END`,
]
