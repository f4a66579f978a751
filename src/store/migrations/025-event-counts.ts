/** Events counted as they are done with, since their own rows go after a week. The triggers keep the counts right. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const ADD = sql`INSERT INTO event_count
    VALUES (substr(new.received_at, 1, 13), new.outcome, 1,
      ifnull(max(0, unixepoch(new.done_at, 'subsec') - unixepoch(new.received_at, 'subsec')), 0))
    ON CONFLICT DO UPDATE SET events = events + 1, seconds = seconds + excluded.seconds`

const STATEMENTS = [
  sql`CREATE TABLE event_count ( -- one row an hour and outcome: the events that came in that hour and are done with
    hour TEXT NOT NULL, -- UTC, such as 2026-11-21T14
    outcome TEXT NOT NULL, -- as in event
    events INTEGER NOT NULL, -- number of events
    seconds REAL NOT NULL, -- sum of the times from when each came to when what it told of was in the copy
    PRIMARY KEY (hour, outcome)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE TRIGGER event_count_insert AFTER INSERT ON event WHEN new.outcome IS NOT NULL BEGIN ${ADD}; END`,
  sql`CREATE TRIGGER event_count_update AFTER UPDATE OF outcome ON event
    WHEN old.outcome IS NULL AND new.outcome IS NOT NULL BEGIN ${ADD}; END`,
]
