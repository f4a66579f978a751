/** What several processes that work on one store tell one another: who sends a letter, and how fast others may be asked. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`ALTER TABLE delivery ADD COLUMN
    sender /* the lease of who has it in hand, or had it last; null where nobody ever had */ TEXT`,
  sql`CREATE TABLE mail_turn ( -- one row a letter that went out within the last minute, where several processes send to a server
    server TEXT NOT NULL, -- such as smtp://mail.example.com:587
    taken_ms REAL NOT NULL -- milliseconds since 1970, by the clock of the database
  ) STRICT`,
  sql`CREATE INDEX mail_turn_by_time ON mail_turn (server, taken_ms)`,

  sql`CREATE TABLE upstream_pace ( -- one row: when the next request may leave, where several processes ask the upstream
    id INTEGER PRIMARY KEY CHECK (id = 1),
    next_ms REAL NOT NULL, -- milliseconds since 1970, by the clock of the database: not before, by our own budget
    held_until_ms REAL NOT NULL, -- not before, since the upstream said so
    requests_left INTEGER, -- until reset_ms, as the upstream said; null while it has not
    reset_ms REAL NOT NULL, -- when the upstream counts anew
    under_way INTEGER NOT NULL -- requests without an answer yet, since the upstream last counted anew
  ) STRICT`,

  sql`CREATE TABLE detail_reading ( -- one row while several processes read details for a sync
    run_id TEXT PRIMARY KEY, -- sync_run.id
    failures_in_row INTEGER NOT NULL DEFAULT 0, -- leads that could not be read, one after the other
    held INTEGER NOT NULL DEFAULT 0, -- entries of activity that could not be read
    requests INTEGER NOT NULL DEFAULT 0, -- to the upstream, by others than who runs the sync
    retries INTEGER NOT NULL DEFAULT 0, -- of these, repeats
    ended TEXT -- why no more of them are read: code, message, hint, not_before as JSON; null while they are
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE detail_wanted ( -- one row a lead whose details are to be read for that sync
    lead_no INTEGER PRIMARY KEY, -- lead.no
    run_id TEXT NOT NULL REFERENCES detail_reading (run_id), -- the sync
    batch INTEGER NOT NULL -- those of one number are read by one process, one after the other
  ) STRICT`,
  sql`CREATE INDEX detail_wanted_by_batch ON detail_wanted (run_id, batch)`,
]
