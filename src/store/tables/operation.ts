/** The tables of the installation: leases, scheduled runs, the uptime of the daemon, and alerts. */

export const OPERATION = [
  `CREATE TABLE installation ( -- one row: the identity of this store
    id TEXT PRIMARY KEY, -- random; part of every Message-ID, so that two installations never share one
    created_at TEXT NOT NULL -- UTC
  ) STRICT`,

  `CREATE TABLE lease ( -- one row per task that only one process may do at a time: the process that does it
    name TEXT PRIMARY KEY, -- name of the task
    holder TEXT NOT NULL, -- random identifier of the process that has the lease
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    acquired_at TEXT NOT NULL, -- UTC
    expires_at TEXT NOT NULL -- UTC: when the lease ends unless the holder renews it
  ) STRICT`,

  `CREATE TABLE scheduled_run ( -- one row for each scheduled run, with its result
    schedule TEXT NOT NULL, -- sync, sync-full or report:<name>
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
  `CREATE INDEX scheduled_run_open ON scheduled_run (schedule) WHERE state IN ('pending', 'running', 'held')`,
  `CREATE INDEX scheduled_run_by_state ON scheduled_run (schedule, state)`,
  `CREATE INDEX scheduled_run_by_time ON scheduled_run (due_at)`,
  `CREATE INDEX scheduled_run_missed ON scheduled_run (schedule, noted_at) WHERE state = 'skipped' AND attempts = 0`,

  `CREATE TABLE daemon_uptime ( -- one row: the heartbeat of the daemon; of several workers, one row each
    id INTEGER PRIMARY KEY,
    began_at TEXT NOT NULL, -- UTC: since when it has run without a gap
    began_after TEXT NOT NULL CHECK (began_after IN ('down', 'blocked', 'unwritable', 'clock')), -- the gap before: down: the daemon was not running; blocked: it could not work for a while; unwritable: the database could not be written; clock: the clock was changed
    down_since TEXT, -- UTC: last heartbeat before that gap; null if there was none
    last_heartbeat_at TEXT NOT NULL, -- UTC
    ended_at TEXT, -- UTC: when the daemon was stopped; null while it runs, or if it was killed
    host TEXT NOT NULL,
    pid INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE alert ( -- one row per problem that a check found; kept until 90 days after it was resolved
    id INTEGER PRIMARY KEY,
    check_id TEXT NOT NULL, -- name of the check that found the problem, such as sync_failing; docs/reference/checks.md lists all checks
    subject TEXT NOT NULL, -- report, recipient or field that the problem is about; empty if the check is about one thing only
    state TEXT NOT NULL CHECK (state IN ('pending', 'open', 'resolved')), -- pending: found, but not often enough to be announced
    seen INTEGER NOT NULL, -- number of times in a row that the check found the problem before the alert was opened
    message TEXT NOT NULL, -- description of the problem when the check last found it
    hint TEXT NOT NULL, -- what an operator can do about the problem
    first_seen_at TEXT NOT NULL, -- UTC
    opened_at TEXT, -- UTC: when the alert was opened; null if it never was
    reopened_at TEXT, -- UTC: when the problem last came back soon after it was resolved; null if it never did
    resolved_at TEXT, -- UTC
    announced TEXT NOT NULL CHECK (announced IN ('nothing', 'open', 'resolved')), -- what the last message to operators said about the alert: nothing, that it is open, or that it is resolved
    announced_at TEXT, -- UTC: when operators last got a message about the alert, including reminders; null if they got none
    acknowledged_at TEXT -- UTC: when an operator acknowledged the alert, which ends reminders; null if nobody has
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_unresolved ON alert (check_id, subject) WHERE state <> 'resolved'`,

  `CREATE TABLE alert_message ( -- one row per message about alerts to operators
    id INTEGER PRIMARY KEY,
    made_at TEXT NOT NULL, -- UTC
    content TEXT NOT NULL, -- JSON: the alerts of the message, from which the mail and the webhook text are composed
    post_state TEXT CHECK (post_state IN ('pending', 'sent', 'failed')), -- state of the post to the webhook; null if no webhook was set; the mails are in delivery
    post_attempts INTEGER NOT NULL DEFAULT 0,
    next_post_at TEXT, -- UTC: earliest time of the next post to the webhook; null if none is left to try
    post_response TEXT -- last answer of the webhook, or why there was none; null before the first attempt
  ) STRICT`,
  `CREATE INDEX alert_message_waiting ON alert_message (next_post_at) WHERE next_post_at IS NOT NULL`,

  `CREATE TABLE ended_session ( -- one row per session of the dashboard that was ended before its time
    id TEXT PRIMARY KEY,
    expires_at TEXT NOT NULL -- UTC: when the session would have ended by itself
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE heartbeat_ping ( -- at most one row: the last ping to the heartbeat monitor
    id INTEGER PRIMARY KEY CHECK (id = 1),
    run_id TEXT NOT NULL, -- sync_run.id of the sync that read it; event:TIME if a webhook event made us read it at that time
    signal TEXT NOT NULL CHECK (signal IN ('start', 'success', 'fail', 'log')),
    is_taken INTEGER NOT NULL CHECK (is_taken IN (0, 1)) -- 1: the monitor took it; 0: it is sent again
  ) STRICT`,
] as const
