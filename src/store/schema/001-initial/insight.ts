/**
 * The tables of what reports expect and claim: counts by day, the ranges that reports printed, and how often
 * such ranges were right.
 */
import { sql } from 'kysely'

export const INSIGHT = [
  sql`CREATE TABLE daily_count ( -- one row per local day, figure and group of leads: the counts from which usual ranges are computed; a day and group without a row has 0
    time_zone TEXT NOT NULL, -- IANA name of the time zone of the days
    figure TEXT NOT NULL, -- new_leads, won or lost: number of leads; won_value: money
    dimension TEXT NOT NULL, -- column of lead that groups the leads: pipeline_id, source, company_country or agent_id
    day TEXT NOT NULL, -- local date, such as 2026-11-20
    member TEXT NOT NULL, -- value of that column when the day was last counted; empty for leads without one
    currency TEXT NOT NULL, -- ISO 4217 for won_value; empty for other figures
    value REAL NOT NULL, -- number of leads, or money in whole units of currency
    PRIMARY KEY (time_zone, figure, dimension, day, member, currency)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE daily_count_span ( -- one row per time zone: which days daily_count has
    time_zone TEXT PRIMARY KEY, -- IANA name
    first_day TEXT NOT NULL, -- local date
    last_day TEXT NOT NULL, -- local date
    counted_at TEXT NOT NULL -- UTC, by our clock: what was read by then is counted
  ) STRICT, WITHOUT ROWID`,
]
