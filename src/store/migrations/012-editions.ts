/** Several editions of a report and period, one for each choice of leads; and why one was not sent. */
import { type Kysely, sql } from 'kysely'

/** Foreign keys must be off: the table is made anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await statement.execute(db)
}

const STATEMENTS = [
  sql`CREATE TABLE report_edition_anew ( -- one row a report of a period and a choice of leads: what it said
    id TEXT PRIMARY KEY,
    report TEXT NOT NULL, -- name of the report, as in the settings
    period_from TEXT NOT NULL, -- UTC: when the period that it covers begins
    period_to TEXT NOT NULL, -- UTC: when the period ends, not included
    time_zone TEXT NOT NULL,
    rendered_at TEXT NOT NULL, -- UTC
    run_id TEXT, -- sync_run.id of the data it shows
    figures TEXT NOT NULL, -- JSON: every number in it; the snapshot's table figure has the SQL behind them
    subject TEXT NOT NULL,
    html TEXT NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'day', -- of its period: day, working_day, week, month or since_last
    variant TEXT NOT NULL DEFAULT '', -- JSON: the filter of those who get it; empty for all leads that the report is about
    not_sent TEXT, -- why it was not sent at its time; null where it was, or was only looked at
    program_version TEXT, -- of the leadsheet that made it; null where that is not known
    UNIQUE (report, period_from, period_to, variant)
  ) STRICT`,
  sql`INSERT INTO report_edition_anew (id, report, period_from, period_to, time_zone, rendered_at, run_id, figures,
      subject, html, text)
    SELECT id, report, period_from, period_to, time_zone, rendered_at, run_id, figures, subject, html, text
    FROM report_edition`,
  sql`DROP TABLE report_edition`,
  sql`ALTER TABLE report_edition_anew RENAME TO report_edition`,
]
