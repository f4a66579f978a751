/**
 * Histories that are the same in whatever order states arrive: each version knows the upstream's time of its update,
 * absences are kept, and moves between statuses are a table. What older files do not tell of a version is left null.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`ALTER TABLE lead_version RENAME TO lead_version_before`,
  sql`CREATE TABLE lead_version ( -- one row for each state of its tracked fields (pipeline to agent) that a lead has been in
    lead_id TEXT NOT NULL REFERENCES lead (id),
    valid_from TEXT NOT NULL, -- UTC: the state began; by the upstream's clock where it tells, by ours after a return
    valid_to TEXT, -- UTC: it ended (not included), with the next state or the lead's removal; null for the present one; as valid_from for one of a time when the lead was gone
    changed_at TEXT NOT NULL, -- UTC: lead.updated_at when it was first in this state; by our clock where the upstream has none
    status_changed_at TEXT, -- UTC, by the upstream's clock: its own time of the last change of status; null where it does not tell
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we first read this state
    run_id TEXT NOT NULL, -- sync_run.id that read it
    pipeline_id TEXT NOT NULL, -- pipeline.id
    status TEXT NOT NULL, -- stage.status
    score ANY, -- 0 to 100, null until scored
    value_amount ANY, -- in whole units of value_currency
    value_currency TEXT, -- ISO 4217
    agent_id TEXT -- agent.id, the last to work on it
  ) STRICT`,
  // Not as the primary key: a first load puts it aside and makes it at the end.
  sql`CREATE UNIQUE INDEX lead_version_by_lead ON lead_version (lead_id, valid_from)`,
  sql`INSERT INTO lead_version
    SELECT lead_id, valid_from, valid_to, valid_from, NULL, observed_at, run_id,
      pipeline_id, status, score, value_amount, value_currency, agent_id
    FROM lead_version_before ORDER BY lead_id, valid_from`,
  sql`DROP TABLE lead_version_before`,

  sql`CREATE TABLE lead_touch ( -- updates of a lead that changed none of its tracked fields: by them late states find their place; the last 16 of a lead
    lead_id TEXT NOT NULL REFERENCES lead (id),
    changed_at TEXT NOT NULL, -- UTC, by the upstream's clock: lead.updated_at then
    status_changed_at TEXT, -- UTC, by the upstream's clock; null where it does not tell
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we read it
    run_id TEXT NOT NULL, -- sync_run.id that read it
    PRIMARY KEY (lead_id, changed_at)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO lead_touch
    SELECT lead.id, lead.updated_at, NULL, lead.observed_at, lead.run_id
    FROM lead JOIN lead_version AS version ON version.lead_id = lead.id AND version.valid_to IS NULL
    WHERE lead.updated_at > version.changed_at`,

  sql`CREATE TABLE lead_gone ( -- one row for each span in which a lead was gone upstream
    lead_id TEXT NOT NULL REFERENCES lead (id),
    gone_at TEXT NOT NULL, -- UTC, by our clock: when the second whole scan without it marked it removed
    returned_at TEXT CHECK (returned_at > gone_at), -- UTC, by our clock: when it was met again; null while it is gone
    run_id TEXT NOT NULL, -- sync_run.id that marked it removed
    PRIMARY KEY (lead_id, gone_at)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX lead_gone_by_time ON lead_gone (gone_at)`,
  sql`INSERT INTO lead_gone
    SELECT lead_id, valid_to, next, run_id
    FROM (SELECT lead_id, valid_to, run_id, lead(valid_from) OVER (PARTITION BY lead_id ORDER BY valid_from) AS next
      FROM lead_version)
    WHERE next > valid_to`,
  sql`INSERT INTO lead_gone
    SELECT id, removed_at, NULL, run_id FROM lead
    WHERE removed_at IS NOT NULL
    ON CONFLICT DO NOTHING`,

  sql`CREATE TABLE stage_move ( -- one row for each change of a lead's status that is known, from its versions and its activity; lead_known says since when all of a lead are known
    lead_id TEXT NOT NULL REFERENCES lead (id),
    moved_at TEXT NOT NULL, -- UTC, by the upstream's clock where it tells: when to_status began
    to_status TEXT NOT NULL, -- stage.status
    from_status TEXT NOT NULL, -- stage.status
    pipeline_id TEXT NOT NULL, -- pipeline.id, of the lead at that time
    entered_at TEXT, -- UTC: when from_status began; null where it began before what is known
    days_before REAL, -- days in from_status, from entered_at to moved_at
    source TEXT NOT NULL CHECK (source IN ('version', 'activity')), -- version: two states that we read; activity: the upstream's own list of the lead's past
    observed_at TEXT NOT NULL, -- UTC, by our clock: when we first knew of it
    PRIMARY KEY (lead_id, moved_at, to_status)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO stage_move
    SELECT lead_id, valid_from, status, from_status, pipeline_id, since,
      round(julianday(valid_from) - julianday(since), 4), 'version', observed_at
    FROM (SELECT *, lag(status) OVER lead_in_order AS from_status, lag(valid_from) OVER lead_in_order AS since
      -- only the versions that began a status: those in between changed something else
      FROM (SELECT *, lag(status) OVER lead_in_order AS before FROM lead_version
        WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY valid_from))
      WHERE before IS NULL OR before <> status
      WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY valid_from))
    WHERE from_status IS NOT NULL`,
  sql`CREATE INDEX stage_move_by_time ON stage_move (moved_at, pipeline_id, to_status, from_status)`,
]
