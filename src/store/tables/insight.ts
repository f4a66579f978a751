/** The tables for the judgements in reports: counts by day, thresholds, published ranges and annotations. */

export const INSIGHT = [
  `CREATE TABLE daily_count ( -- one row per local day, figure and group of leads: its count, from which normal ranges are computed; without a row it is 0
    time_zone TEXT NOT NULL, -- IANA name of the time zone of the days
    figure TEXT NOT NULL, -- new_leads, won or lost: number of leads; won_value: money
    dimension TEXT NOT NULL, -- column of lead that groups the leads: pipeline_id, source, company_country or agent_id
    day TEXT NOT NULL, -- local date, such as 2026-11-20
    member TEXT NOT NULL, -- value of that column when the day was last counted; empty for leads without one
    currency TEXT NOT NULL, -- ISO 4217 for won_value; empty for other figures
    value REAL NOT NULL, -- number of leads, or money in whole units of currency
    PRIMARY KEY (time_zone, figure, dimension, day, member, currency)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE daily_count_span ( -- one row per time zone: which days daily_count has
    time_zone TEXT PRIMARY KEY, -- IANA name of the time zone
    first_day TEXT NOT NULL, -- local date of the first day in daily_count
    last_day TEXT NOT NULL, -- local date of the last day in daily_count
    counted_at TEXT NOT NULL -- UTC, by our clock: when the days were counted, from what was read by then
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE stall_threshold ( -- one row per stage: how long the leads that were won in the last year had stayed in it; counted about once a day
    status TEXT PRIMARY KEY, -- stage.status; empty for the whole time from the creation of a lead until it was won
    winners INTEGER NOT NULL, -- number of stays of these leads in the stage; for the whole time, the number of these leads
    days REAL, -- days that only 5 % of the stays exceeded (1 % for the whole time); null: too few stays
    counted_at TEXT NOT NULL -- UTC, by our clock: when it was counted
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE old_lead_count ( -- one row per pipeline and currency: its open leads, and how many are older than the whole time in stall_threshold; counted with that table
    pipeline_id TEXT NOT NULL, -- pipeline.id
    value_currency TEXT NOT NULL, -- ISO 4217; empty for leads without a value or without a currency
    open INTEGER NOT NULL, -- number of open leads
    old INTEGER NOT NULL, -- number of open leads that are older than nearly all winners were
    old_value REAL NOT NULL, -- sum of the values of the leads that old counts, in whole units of value_currency
    PRIMARY KEY (pipeline_id, value_currency)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE published_range ( -- one row per range that a sent issue published: the normal range of a number or a win rate, or the range of an expected end
    time_zone TEXT NOT NULL, -- IANA name of the time zone of the days
    kind TEXT NOT NULL, -- what the range is of: day, week or month; 30_days for a win rate; month_end, quarter_end or fiscal_year_end for an expected end
    figure TEXT NOT NULL, -- new_leads, won, lost or win_rate
    pipelines TEXT NOT NULL, -- JSON: list of the pipeline.id that the number counts; empty for all leads
    time_window TEXT NOT NULL, -- local date shared by ranges of the same time window, which hold or fail together: last_day; for win rates the first day
    as_of_day TEXT NOT NULL, -- local date: last day in the numbers of the issue
    first_day TEXT NOT NULL, -- local date: first day that the range is of
    last_day TEXT NOT NULL, -- local date: last day that the range is of
    low REAL NOT NULL, -- lower bound of the range: number of leads; for win_rate, of won leads
    high REAL NOT NULL, -- upper bound; both bounds belong to the range
    actual REAL, -- the real number, as the issue knew it; for an expected end, as known three days after the end, and null until then
    issue_id TEXT NOT NULL, -- report_issue.id of the first issue with this range; the same range in another issue is no further row
    PRIMARY KEY (time_zone, kind, figure, pipelines, time_window, as_of_day, last_day, first_day)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX published_range_open ON published_range (time_zone, last_day) WHERE actual IS NULL`,

  `CREATE TABLE annotation ( -- one row per annotation: what a person noted about one or more days
    id INTEGER PRIMARY KEY, -- number of the annotation
    first_day TEXT NOT NULL, -- local date of the first day, such as 2026-11-13; each report reads it in its own time zone
    last_day TEXT NOT NULL, -- local date of the last day; the same as first_day for a single day
    text TEXT NOT NULL, -- what was written, such as campaign
    pipeline_id TEXT, -- pipeline.id of the pipeline that it is about; null for all leads
    is_left_out INTEGER NOT NULL, -- 1: normal ranges do not learn from these days, and reports do not judge them; 0: reports only mark them
    written_at TEXT NOT NULL, -- UTC, by our clock: when it was written
    written_by TEXT NOT NULL -- name of the user of the command line; dashboard if it was written there
  ) STRICT`,
] as const
