/** What is wrong and whom it was told: troubles, messages about them, and what the dead-man switch knows. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE notice ( -- one row a trouble, from when it is first seen until it has passed
    id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL, -- such as sync_failing; the README lists them
    subject TEXT NOT NULL, -- what it is about, such as a report or an address; empty where the reason says it
    state TEXT NOT NULL CHECK (state IN ('watched', 'open', 'closed')), -- watched: seen, but not often enough to count
    seen INTEGER NOT NULL, -- how often in a row it was seen before it counted
    message TEXT NOT NULL, -- as it was seen last
    hint TEXT NOT NULL, -- what can be done
    first_seen_at TEXT NOT NULL, -- UTC
    opened_at TEXT, -- UTC: since when it counts; null for one that never has
    reopened_at TEXT, -- UTC: when it last came back soon after it had passed
    closed_at TEXT, -- UTC: when it was last seen to have passed
    told TEXT NOT NULL CHECK (told IN ('nothing', 'raised', 'over')), -- what operators know of it
    told_at TEXT, -- UTC: when they were last told, reminders included
    acknowledged_at TEXT -- UTC: when an operator said that they know; there are no reminders after that
  ) STRICT`,
  sql`CREATE UNIQUE INDEX notice_live ON notice (reason, subject) WHERE state <> 'closed'`,

  sql`CREATE TABLE notice_message ( -- one row a message to operators
    id INTEGER PRIMARY KEY,
    made_at TEXT NOT NULL, -- UTC
    content TEXT NOT NULL, -- JSON: what it says, however each way to tell it writes that
    post_state TEXT CHECK (post_state IN ('pending', 'sent', 'failed')), -- of the webhook; null where none was set. Letters stand in delivery
    post_attempts INTEGER NOT NULL DEFAULT 0,
    next_post_at TEXT, -- UTC: not tried before; null where nothing is left to try
    post_response TEXT -- what the far side said last, or why there is no answer
  ) STRICT`,
  sql`CREATE INDEX notice_message_waiting ON notice_message (next_post_at) WHERE next_post_at IS NOT NULL`,

  sql`CREATE TABLE ping ( -- one row at most: the last that the dead-man switch was to be told
    id INTEGER PRIMARY KEY CHECK (id = 1),
    run_id TEXT NOT NULL, -- sync_run.id
    signal TEXT NOT NULL CHECK (signal IN ('start', 'success', 'fail', 'log')),
    attempts INTEGER NOT NULL,
    next_attempt_at TEXT, -- UTC: not tried before; null where it knows
    response TEXT -- what it said last, or why there is no answer
  ) STRICT`,

  // What is asked each minute, so that it costs nothing however much has been synced and sent.
  sql`CREATE INDEX delivery_failed ON delivery (state_at) WHERE state = 'failed'`,
  sql`CREATE INDEX delivery_in_doubt ON delivery (state_at) WHERE state = 'in_doubt'`,
  sql`CREATE INDEX held_row_by_sight ON held_row (resource, last_seen_at)`,
]
