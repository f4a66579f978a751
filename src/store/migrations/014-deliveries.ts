/**
 * The ledger of letters knows when each is tried next, letters of no edition, and an edition's letter that was sent
 * anew on purpose; and the mail server has a row while it cannot be talked to.
 */
import { type Kysely, sql } from 'kysely'

/** Foreign keys must be off: `delivery` is made anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE delivery_anew ( -- one row a message to one recipient: how far it is
    message_id TEXT PRIMARY KEY, -- the same for every attempt
    edition_id TEXT REFERENCES report_edition (id), -- null for a notice to operators
    recipient TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0, -- 0 for the first; one more each time a person has it sent anew
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'data', 'sent', 'failed', 'in_doubt', 'withdrawn')), -- withdrawn: its recipient wanted no more before it went out
    attempts INTEGER NOT NULL DEFAULT 0, -- how often the server was asked to take it; being away is no answer
    doubts INTEGER NOT NULL DEFAULT 0, -- how often it was in doubt: after the second time it is not sent again
    queued_at TEXT NOT NULL, -- UTC: when it was put into the ledger
    state_at TEXT NOT NULL, -- UTC: when the state was entered
    next_attempt_at TEXT, -- UTC: not tried before; null where nothing is left to try
    put_off_at TEXT, -- UTC: when the server first put it off; for two days it is tried again
    reply_code INTEGER, -- SMTP, of the server's last reply; null where there was none
    response TEXT, -- what the mail server said last, or why there is no answer
    UNIQUE (edition_id, recipient, revision)
  ) STRICT`,
  sql`INSERT INTO delivery_anew (message_id, edition_id, recipient, state, attempts, doubts, queued_at, state_at,
      next_attempt_at, response)
    SELECT message_id, edition_id, recipient, state, attempts, doubts, rendered_at, state_at,
      iif(state IN ('pending', 'sending', 'data') OR (state = 'in_doubt' AND doubts < 2), state_at, NULL), response
    FROM delivery JOIN report_edition ON report_edition.id = edition_id`,
  sql`DROP TABLE delivery`,
  sql`ALTER TABLE delivery_anew RENAME TO delivery`,
  sql`CREATE INDEX delivery_waiting ON delivery (next_attempt_at) WHERE next_attempt_at IS NOT NULL`,
  sql`CREATE INDEX delivery_by_recipient ON delivery (recipient, queued_at)`,

  sql`CREATE TABLE mail_outage ( -- one row a mail server that cannot be talked to, until it can
    server TEXT PRIMARY KEY, -- such as smtp://mail.example.com:587
    kind TEXT NOT NULL CHECK (kind IN ('transient', 'configuration')), -- passes by itself, or a setting has to change
    began_at TEXT NOT NULL, -- UTC: the first failure
    failures INTEGER NOT NULL, -- in a row
    next_attempt_at TEXT NOT NULL, -- UTC: no letter is tried before
    reply_code INTEGER, -- SMTP, of the last one; null where there was no reply
    response TEXT NOT NULL -- what the server said last, or why there is no answer
  ) STRICT`,
]
