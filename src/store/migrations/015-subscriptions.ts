/** What recipients wish otherwise than the settings say, and the key that signs the links by which they say so. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE subscription ( -- one row a recipient and report of which somebody has ever wished something; others get what the settings say
    address TEXT NOT NULL, -- in lower case
    report TEXT NOT NULL, -- name of the report, as in the settings
    state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'unsubscribed')), -- paused and unsubscribed get nothing
    cadence TEXT NOT NULL CHECK (cadence IN ('as_scheduled', 'weekly')), -- weekly: once in an ISO week, of the week before
    changed_at TEXT NOT NULL, -- UTC
    changed_by TEXT NOT NULL CHECK (changed_by IN ('recipient', 'operator', 'leadsheet')), -- who wished it last
    reason TEXT, -- in their words; null where none was given
    PRIMARY KEY (address, report)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE TABLE link_key ( -- one row: what signs the links in letters by which recipients change their subscription
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL CHECK (length(key) = 32), -- random
    made_at TEXT NOT NULL -- UTC
  ) STRICT`,
  // It was never written: every edition had that of a day. Older programs kept other figures.
  sql`UPDATE report_edition SET kind = coalesce(figures ->> 'kind', kind) WHERE program_version IS NOT NULL`,
]
