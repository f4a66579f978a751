/**
 * The tables of what reports expect and claim: counts by day, thresholds, and what people know about days.
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

  sql`CREATE TABLE stall_threshold ( -- one row per stage: how long leads that were won within a year had stayed in it; counted about once a day
    status TEXT PRIMARY KEY, -- stage.status; empty for the whole time from the creation of a lead to its winning
    winners INTEGER NOT NULL, -- number of stays of these leads, or of these leads
    days REAL, -- days that only 5 % of them exceeded, 1 % for the whole time; null if there is too little to tell
    counted_at TEXT NOT NULL -- UTC, by our clock
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE old_lead_count ( -- one row per pipeline and currency: the open leads, and those older than the whole time in stall_threshold; counted with it
    pipeline_id TEXT NOT NULL, -- pipeline.id
    value_currency TEXT NOT NULL, -- ISO 4217; empty for leads without a value or its currency
    open INTEGER NOT NULL, -- number of open leads
    old INTEGER NOT NULL, -- number of open leads that are older than nearly all winners were
    old_value REAL NOT NULL, -- sum of the values of these older leads, in whole units of value_currency
    PRIMARY KEY (pipeline_id, value_currency)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE annotation ( -- one row per note of a person about one or more days, such as a campaign
    id INTEGER PRIMARY KEY, -- number of the annotation
    first_day TEXT NOT NULL, -- local date in the time zone of each report, such as 2026-11-13
    last_day TEXT NOT NULL, -- local date; the same as first_day for a single day
    text TEXT NOT NULL, -- what was written, such as campaign
    pipeline_id TEXT, -- pipeline.id; null for all leads
    is_left_out INTEGER NOT NULL, -- 1: nothing is learned from these days and they are not judged; 0: they are only marked
    written_at TEXT NOT NULL, -- UTC, by our clock
    written_by TEXT NOT NULL -- user of the command line, or dashboard
  ) STRICT`,
]
