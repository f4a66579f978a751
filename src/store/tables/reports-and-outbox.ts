/**
 * The tables of issues, of the messages that carry them, and of the recipients'
 * preferences. The table `delivery` has the state of sending each message. After the first release a new
 * column also needs a migration; see `store/schema/migrate.ts`.
 */

export const REPORTS = [
  // The longest columns come last, so that a search of the texts does not read them.
  `CREATE TABLE report_issue ( -- one row per issue: what a report said about one period and one filter of leads
    id TEXT PRIMARY KEY, -- random identifier
    report TEXT NOT NULL, -- name of the report, as in the settings
    period_from TEXT NOT NULL, -- UTC: when its period begins
    period_to TEXT NOT NULL, -- UTC: when its period ends (exclusive)
    time_zone TEXT NOT NULL, -- IANA zone of the period
    rendered_at TEXT NOT NULL, -- UTC, by our clock: when it was made
    run_id TEXT, -- sync_run.id of the sync whose data it shows
    subject TEXT NOT NULL, -- subject of its messages
    kind TEXT NOT NULL DEFAULT 'day', -- kind of its period: day, working_day, week, month, quarter or since_last
    variant TEXT NOT NULL DEFAULT '', -- JSON: the filter of its recipients; empty if it covers all leads of the report
    not_sent TEXT, -- why it was not sent on schedule; null if it was sent or only previewed
    program_version TEXT, -- version of leadsheet that made it; null if unknown
    figures_format INTEGER, -- format of its figures; an issue of another format than today's is shown and sent as stored; null if unknown
    text TEXT NOT NULL,
    html TEXT NOT NULL,
    figures TEXT NOT NULL, -- JSON: all its numbers
    UNIQUE (report, period_from, period_to, variant)
  ) STRICT`,
  `CREATE INDEX report_issue_by_end ON report_issue (period_to, rendered_at, id, time_zone, period_from)`,
  `CREATE INDEX report_issue_by_series ON report_issue (report, variant, kind, period_to)`,

  `CREATE TABLE delivery ( -- one row per message to one recipient: the state of its delivery
    message_id TEXT PRIMARY KEY, -- Message-ID of the mail; all attempts use the same
    issue_id TEXT REFERENCES report_issue (id), -- report_issue.id; null for an alert to operators
    recipient TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0, -- 0 for the first message; 1 more each time a person sends the issue again; below 0 for a message that confirms that its recipient has unsubscribed
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'data', 'sent', 'failed', 'unconfirmed', 'withdrawn', 'bounced', 'complained')), -- pending, sending, data: not finished; sent: the server accepted it; failed: refused or given up; unconfirmed: the server's answer was lost; withdrawn: its recipient no longer wanted it or is no longer in the settings, or an operator cancelled it; bounced: it was accepted, and came back later; complained: its recipient reported it as spam
    attempts INTEGER NOT NULL DEFAULT 0, -- number of attempts; an attempt that did not reach the server does not count
    unconfirmed_count INTEGER NOT NULL DEFAULT 0, -- number of times that the message became unconfirmed; after the second time leadsheet does not send it again by itself
    queued_at TEXT NOT NULL, -- UTC: when it was put into the ledger, or a person had it sent again
    state_at TEXT NOT NULL, -- UTC: when the state was entered
    next_attempt_at TEXT, -- UTC: the earliest time of the next attempt; null if there is none
    deferred_at TEXT, -- UTC: when the server first deferred it; leadsheet tries again for two days
    reply_code INTEGER, -- code of the server's last answer, of SMTP or HTTP; null if there was none
    is_refusal INTEGER NOT NULL DEFAULT 0 CHECK (is_refusal IN (0, 1)), -- 1: the last answer or a bounce refused it for good and not for its size, which counts against the recipient; 0: it did not
    response TEXT, -- last answer of the mail server or text of the bounce, or why there was none
    alike TEXT, -- of a bounce: its code, or its words without names and numbers; most of the bounces of an issue being alike, no recipient is to blame
    sender TEXT, -- lease.holder of the process that last tried to send the message; null before the first attempt
    UNIQUE (issue_id, recipient, revision)
  ) STRICT`,
  `CREATE INDEX delivery_waiting ON delivery (next_attempt_at) WHERE next_attempt_at IS NOT NULL`,
  `CREATE INDEX delivery_by_recipient ON delivery (recipient, queued_at)`,
  // The checks that run every minute read these indexes. The indexes stay small however many messages were
  // sent.
  `CREATE INDEX delivery_failed ON delivery (state_at) WHERE state IN ('failed', 'bounced')`,
  `CREATE INDEX delivery_unconfirmed ON delivery (state_at) WHERE state = 'unconfirmed'`,
  `CREATE INDEX delivery_complained ON delivery (state_at) WHERE state = 'complained'`,
  // Leaves out sent messages. If the index had them, SQLite would use it to find the messages of a recipient.
  `CREATE INDEX delivery_not_sent ON delivery (state) WHERE state <> 'sent'`,

  `CREATE TABLE message ( -- one row per message: its whole content, so that every attempt sends the same
    message_id TEXT PRIMARY KEY REFERENCES delivery (message_id),
    head TEXT NOT NULL, -- JSON: sender, recipient, subject, date and the other headers
    files TEXT NOT NULL, -- JSON: name, contentType, cid and sha256 (of message_file) of each file, in their order
    html BLOB NOT NULL, -- UTF-8, packed by zlib
    text BLOB NOT NULL -- UTF-8, packed by zlib
  ) STRICT`,

  `CREATE TABLE message_file ( -- one row per file that is attached to messages; messages share equal files
    sha256 TEXT PRIMARY KEY, -- SHA-256 of content, in hex
    content BLOB NOT NULL
  ) STRICT`,

  `CREATE TABLE mail_outage ( -- one row per mail server that cannot be reached or used; deleted when it works again
    server TEXT PRIMARY KEY, -- such as smtp://mail.example.com:587
    kind TEXT NOT NULL CHECK (kind IN ('transient', 'configuration', 'sender')), -- transient: passes by itself; configuration: a setting has to change; sender: the server takes nothing from this sender, such as past a daily limit
    began_at TEXT NOT NULL, -- UTC: time of the first failure
    failures INTEGER NOT NULL, -- number of failures in a row
    next_attempt_at TEXT NOT NULL, -- UTC: earliest time of the next attempt to send a message
    reply_code INTEGER, -- code of the last answer, of SMTP or HTTP; null if there was none
    response TEXT NOT NULL -- last reply of the server, or why there was none
  ) STRICT`,

  `CREATE TABLE notification ( -- one row per message of the mailbox of bounces, or event of the provider, that was read; none counts twice
    id TEXT PRIMARY KEY, -- SHA-256 of its bytes, in hex, or the provider's id of the event
    read_at TEXT NOT NULL, -- UTC
    kind TEXT NOT NULL CHECK (kind IN ('bounced', 'delayed', 'delivered', 'complained', 'unsubscribe', 'auto_reply', 'other')), -- what it says
    outcome TEXT NOT NULL CHECK (outcome IN ('applied', 'unchanged', 'unmatched', 'ignored')), -- applied: it changed a message or a preference; unchanged: nothing was to be changed; unmatched: it is about no message that leadsheet sent; ignored: it says nothing about a message
    message_id TEXT -- delivery.message_id of the message that it is about; null if there is none
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE bounce_mailbox ( -- one row per mailbox of bounces that was ever read
    name TEXT PRIMARY KEY, -- such as imaps://imap.example.com:993/INBOX
    position TEXT, -- the place behind the last message that was read; null before the first
    tried_at TEXT NOT NULL, -- UTC: when leadsheet last began to read it
    failing_since TEXT, -- UTC: the first failure after the last success; null if it could be read
    response TEXT -- why it could not be read; null if it could
  ) STRICT`,

  `CREATE TABLE preference ( -- one row per recipient and report for which a choice was ever saved; without a row the settings apply
    address TEXT NOT NULL, -- e-mail address in lower case
    report TEXT NOT NULL, -- name of the report, as in the settings
    state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'unsubscribed')), -- active: gets the report; paused and unsubscribed: does not
    changed_at TEXT NOT NULL, -- UTC
    changed_by TEXT NOT NULL CHECK (changed_by IN ('recipient', 'operator', 'leadsheet')), -- who made the last change
    reason TEXT, -- reason for the change; null if none was given
    PRIMARY KEY (address, report)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE link_key ( -- one row: the key that signs the links by which recipients change their preferences
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL CHECK (length(key) = 32), -- 32 random bytes
    made_at TEXT NOT NULL -- UTC
  ) STRICT`,
] as const
