/** The tables of the installation: leases, scheduled runs, the uptime of the daemon, and alerts. */
import { sql } from 'kysely'

export const OPERATION = [
  sql`CREATE TABLE installation ( -- one row: this copy as such
    id TEXT PRIMARY KEY, -- random; part of every Message-ID, so that two installations never share one
    created_at TEXT NOT NULL, -- UTC
    moving_from TEXT -- the store that is being moved here, as messages call it; null where this is whole
  ) STRICT`,

  sql`CREATE TABLE lease ( -- who does a thing that only one process may do at a time
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL, -- random, one a process
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    acquired_at TEXT NOT NULL, -- UTC
    expires_at TEXT NOT NULL -- UTC; moved on while the holder works
  ) STRICT`,

  sql`CREATE TABLE scheduled_run ( -- one row for each scheduled run, with its result
    schedule TEXT NOT NULL, -- sync, sync-full, snapshot or report:<name>
    due_at TEXT NOT NULL, -- UTC: when it was due
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'held', 'done', 'failed', 'skipped')),
    noted_at TEXT NOT NULL, -- UTC: when the daemon saw that it was due
    not_before TEXT, -- UTC: the earliest time of the next start; null for at once
    attempts INTEGER NOT NULL DEFAULT 0, -- number of starts
    approved_at TEXT, -- UTC: when a person approved a run that was held or waited; null if nobody has
    started_at TEXT, -- UTC: time of the last start
    finished_at TEXT, -- UTC
    message TEXT, -- the result, or why the run waits, failed or was skipped
    PRIMARY KEY (schedule, due_at)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX scheduled_run_open ON scheduled_run (schedule) WHERE state IN ('pending', 'running', 'held')`,
  sql`CREATE INDEX scheduled_run_by_state ON scheduled_run (schedule, state)`,
  sql`CREATE INDEX scheduled_run_by_time ON scheduled_run (due_at)`,
  sql`CREATE INDEX scheduled_run_missed ON scheduled_run (schedule, noted_at) WHERE state = 'skipped' AND attempts = 0`,

  sql`CREATE TABLE daemon_uptime ( -- one row per time through which the daemon ran without a gap
    id INTEGER PRIMARY KEY,
    began_at TEXT NOT NULL, -- UTC
    began_after TEXT NOT NULL CHECK (began_after IN ('down', 'blocked', 'clock')), -- why it ran not before: it was not started, was kept from its work, or the clock was set
    last_heartbeat_at TEXT NOT NULL, -- UTC: its last heartbeat
    ended_at TEXT, -- UTC: when it was stopped; null where it runs, or was killed
    host TEXT NOT NULL,
    pid INTEGER NOT NULL
  ) STRICT`,

  sql`CREATE TABLE config_load ( -- one row per time the daemon read its settings: when it began, and when it was told to; the last 100
    id INTEGER PRIMARY KEY,
    read_at TEXT NOT NULL, -- UTC
    refused TEXT, -- what was wrong with them, so that those of before stayed in force; null where these are in force since
    changed TEXT, -- JSON: the names of those that differ from the ones in force before; null where there were none
    program TEXT NOT NULL, -- the version of leadsheet that read them
    host TEXT NOT NULL,
    pid INTEGER NOT NULL
  ) STRICT`,

  sql`CREATE TABLE alert ( -- one row per problem, from when a check first finds it until 90 days after it was resolved
    id INTEGER PRIMARY KEY,
    check_id TEXT NOT NULL, -- the check that found it, such as sync_failing; docs/reference/checks.md lists them
    subject TEXT NOT NULL, -- the report, recipient or field it is about; empty where the check says it
    state TEXT NOT NULL CHECK (state IN ('pending', 'open', 'resolved')), -- pending: found, but not often enough to be announced
    seen INTEGER NOT NULL, -- how often in a row it was found before it was opened
    message TEXT NOT NULL, -- as it was found last
    hint TEXT NOT NULL, -- what can be done
    first_seen_at TEXT NOT NULL, -- UTC
    opened_at TEXT, -- UTC; null for one that was never opened
    reopened_at TEXT, -- UTC: when it last came back soon after it was resolved
    resolved_at TEXT, -- UTC
    announced TEXT NOT NULL CHECK (announced IN ('nothing', 'open', 'resolved')), -- what operators were told of it
    announced_at TEXT, -- UTC: when operators were last told, reminders included
    acknowledged_at TEXT -- UTC: when an operator acknowledged it; there are no reminders after that
  ) STRICT`,
  sql`CREATE UNIQUE INDEX alert_unresolved ON alert (check_id, subject) WHERE state <> 'resolved'`,

  sql`CREATE TABLE alert_message ( -- one row per message to operators
    id INTEGER PRIMARY KEY,
    made_at TEXT NOT NULL, -- UTC
    content TEXT NOT NULL, -- JSON, from which mail and webhook each make their own words
    post_state TEXT CHECK (post_state IN ('pending', 'sent', 'failed')), -- of the webhook; null where none was set. Mails stand in delivery
    post_attempts INTEGER NOT NULL DEFAULT 0,
    next_post_at TEXT, -- UTC: not tried before; null where nothing is left to try
    post_response TEXT -- the last answer, or why there was none
  ) STRICT`,
  sql`CREATE INDEX alert_message_waiting ON alert_message (next_post_at) WHERE next_post_at IS NOT NULL`,

  sql`CREATE TABLE heartbeat_ping ( -- one row at most: the last ping to the heartbeat monitor
    id INTEGER PRIMARY KEY CHECK (id = 1),
    run_id TEXT NOT NULL, -- sync_run.id
    signal TEXT NOT NULL CHECK (signal IN ('start', 'success', 'fail', 'log')),
    attempts INTEGER NOT NULL,
    next_attempt_at TEXT, -- UTC: not tried before; null where the monitor has taken it
    response TEXT -- the last answer, or why there was none
  ) STRICT`,
]
