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
    days REAL, -- days that only 5 % of them exceeded, 1 % for the whole time; null: too little to tell, or stall_test speaks against it
    counted_at TEXT NOT NULL -- UTC, by our clock
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE stall_test ( -- one row per stage and date, each thirtieth day: how many of the leads that were won in the next 30 days stayed longer than the threshold of that date
    status TEXT NOT NULL, -- stage.status; empty for the whole time from the creation of a lead to its winning
    tested_from TEXT NOT NULL, -- UTC date: the threshold is that of the leads won within a year before, as they were known a month later
    days REAL, -- threshold of that date, as in stall_threshold; null if there was too little to tell
    winners INTEGER NOT NULL, -- number of stays of the leads that were won in the next 30 days, or of these leads
    longer INTEGER NOT NULL, -- number of these that exceeded the threshold
    PRIMARY KEY (status, tested_from)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE old_lead_count ( -- one row per pipeline and currency: the open leads, and those older than the whole time in stall_threshold; counted with it
    pipeline_id TEXT NOT NULL, -- pipeline.id
    value_currency TEXT NOT NULL, -- ISO 4217; empty for leads without a value or its currency
    open INTEGER NOT NULL, -- number of open leads
    old INTEGER NOT NULL, -- number of open leads that are older than nearly all winners were
    old_value REAL NOT NULL, -- sum of the values of these older leads, in whole units of value_currency
    PRIMARY KEY (pipeline_id, value_currency)
  ) STRICT, WITHOUT ROWID`,

  sql`CREATE TABLE told_range ( -- one row per range that an issue told when its first message was written: of a number, of a win rate, or of where a span will end
    time_zone TEXT NOT NULL, -- IANA name of the time zone of the days
    kind TEXT NOT NULL, -- what the range is of: a day, a week or a month; 30_days for a win rate; month_end, quarter_end or fiscal_year_end for an expected end
    figure TEXT NOT NULL, -- new_leads, won, lost, win_rate or won_value
    pipelines TEXT NOT NULL, -- JSON: list of pipeline.id that are counted; empty for all leads
    currency TEXT NOT NULL, -- ISO 4217 for won_value; empty for other figures
    stretch TEXT NOT NULL, -- local date that all ranges share that are right or wrong together: last_day, or for win rates the first of 30 days
    told_on TEXT NOT NULL, -- local date: last day that the issue counted
    first_day TEXT NOT NULL, -- local date: first day that the range is of
    last_day TEXT NOT NULL, -- local date: last day that the range is of
    low REAL NOT NULL, -- lower bound of the range: number of leads, for win_rate of won leads, or money
    high REAL NOT NULL, -- upper bound; both bounds belong to the range
    actual REAL, -- number that came, as it was known in the issue, or three days after the end of a span; null until then
    issue_id TEXT NOT NULL, -- report_issue.id: first issue with this range; others with the same are no further claims
    PRIMARY KEY (time_zone, kind, figure, pipelines, currency, stretch, told_on, last_day, first_day)
  ) STRICT, WITHOUT ROWID`,
  sql`CREATE INDEX told_range_open ON told_range (time_zone, last_day) WHERE actual IS NULL`,

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
