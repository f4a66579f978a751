/** A due time may be held, or put off; and it is known when the daemon ran, so that it can be said why one was missed. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE schedule_slot_anew ( -- one row a due time of a schedule: what became of it
    schedule TEXT NOT NULL, -- sync, sync-full, snapshot or report:<name>
    slot TEXT NOT NULL, -- UTC: when it was due
    state TEXT NOT NULL CHECK (state IN ('due', 'running', 'held', 'done', 'failed', 'skipped')),
    noted_at TEXT NOT NULL, -- UTC: when the daemon saw that it was due
    not_before TEXT, -- UTC: it is not begun, or tried again, before; null for at once
    attempts INTEGER NOT NULL DEFAULT 0, -- how often it was begun
    released_at TEXT, -- UTC: when a person let a held one go; null where nobody has
    started_at TEXT, -- UTC: when it was begun last
    finished_at TEXT, -- UTC
    message TEXT, -- what came of it, or why it waits, failed or was skipped
    PRIMARY KEY (schedule, slot)
  ) STRICT, WITHOUT ROWID`,
  sql`INSERT INTO schedule_slot_anew (schedule, slot, state, noted_at, attempts, started_at, finished_at, message)
    SELECT schedule, slot, state, coalesce(started_at, finished_at, slot), iif(started_at IS NULL, 0, 1), started_at,
      finished_at, message
    FROM schedule_slot`,
  sql`DROP TABLE schedule_slot`,
  sql`ALTER TABLE schedule_slot_anew RENAME TO schedule_slot`,
  sql`CREATE INDEX schedule_slot_open ON schedule_slot (schedule) WHERE state IN ('due', 'running', 'held')`,

  sql`CREATE TABLE daemon_span ( -- one row a time through which the daemon ran without a gap
    id INTEGER PRIMARY KEY,
    began_at TEXT NOT NULL, -- UTC
    began_after TEXT NOT NULL CHECK (began_after IN ('down', 'blocked', 'clock')), -- why it ran not before: it was not started, was kept from its work, or the clock was set
    last_tick_at TEXT NOT NULL, -- UTC: its last sign of life
    ended_at TEXT, -- UTC: when it was stopped; null where it runs, or was killed
    host TEXT NOT NULL,
    pid INTEGER NOT NULL
  ) STRICT`,
]
