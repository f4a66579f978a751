/** The views of usual ranges, forecasts and explanations in issues, read from the issues' stored figures. */
import { type RawBuilder, sql } from 'kysely'

/** Builds the SQL for columns that are parts of a JSON object. `list` has the name, path and type of each. */
function columns(from: string, list: readonly Column[]) {
  return sql.raw(
    list
      .map(([name, path, type]) => {
        const part = `${from} ->> '$.${path}'`
        if (type === 'text') return `${part} AS ${name}`
        if (type === 'flag') return `iif(CAST(${part} AS TEXT) IN ('1', 'true'), 1, 0) AS ${name}`
        return `CAST(${part} AS ${type === 'whole' ? 'integer' : 'double precision'}) AS ${name}`
      })
      .join(', '),
  )
}
type Column = readonly [name: string, path: string, type: 'text' | 'whole' | 'number' | 'flag']

/** The comments on the columns of {@link OF_ISSUE}. */
const ABOUT_ISSUE = sql.raw(`-- issue_id: report_issue.id
    -- period_from: UTC: when the period of the issue begins
    -- period_to: UTC: when the period ends (exclusive)`)
const OF_ISSUE = sql.raw('report_issue.id AS issue_id, report_issue.report, period_from, period_to')

/** The columns for a count or a win rate and the usual range with which it was compared. */
const JUDGED: readonly Column[] = [
  ['low', 'range.low', 'whole'],
  ['high', 'range.high', 'whole'],
  ['expected', 'expected', 'number'],
  ['judgement', 'judgement', 'text'],
  ['known', 'periods.known', 'whole'],
  ['needed', 'periods.needed', 'whole'],
  ['hits', 'record.hits', 'whole'],
  ['of_ranges', 'record.of', 'whole'],
]
const DRIVER = columns('driver', [
  ['figure', 'figure', 'text'],
  ['figure_actual', 'actual', 'whole'],
  ['figure_expected', 'expected', 'whole'],
  ['dimension', 'dimension', 'text'],
])

/**
 * Groups rows of published_range (chosen by `where`) in the order of the primary key, which saves sorting.
 */
export function publishedRecords(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT time_zone, kind, figure, pipelines, CAST(sum(ranges) AS bigint) AS ranges, CAST(sum(hits) AS bigint) AS hits,
      count(*) AS windows, sum(CAST(hits AS double precision) / ranges) AS windows_hit
    FROM (SELECT time_zone, kind, figure, pipelines, count(*) AS ranges,
        count(*) FILTER (WHERE actual BETWEEN low AND high) AS hits
      FROM published_range WHERE actual IS NOT NULL AND ${where}
      GROUP BY time_zone, kind, figure, pipelines, time_window) AS by_window
    GROUP BY time_zone, kind, figure, pipelines`
}

export const INSIGHT_VIEWS = {
  usual_range: sql`CREATE VIEW usual_range AS
    -- one row per issue and number that it judged: the usual range, and whether the number was usual
    ${ABOUT_ISSUE}
    -- figure: new_leads or won
    -- pipeline_id: pipeline.id; null for all leads of the report
    -- pipeline_name: name of the pipeline when the issue was made
    -- actual: number of leads in the period
    -- low: lower bound of the usual range, which holds 19 of 20 usual periods; null without a range
    -- high: upper bound of that range; both bounds belong to it
    -- expected: number of leads that was expected; null without a range
    -- judgement: high or low: unusual; usual: not, even outside the range; learning: too few earlier periods; withheld: ranges held too rarely; left_out: annotated or mostly holidays
    -- known: number of earlier periods of the same kind that were known
    -- needed: number of such periods that a range needs
    -- hits: how many of the last ranges held; null before the first range
    -- of_ranges: number of these last ranges, at most 365
    -- shift_since: local date of the first day of a shift: several days in a row that together were unusual; null without one
    -- shift_days: number of days of the shift
    -- shift_actual: number of leads in the shift
    -- shift_expected: number of leads that was expected in the shift
    -- shift_is_new: 1: no issue sent before has reported a part of the shift, so it is news; 0: one has
    SELECT ${OF_ISSUE}, ${columns('each.value', [
      ['figure', 'figure', 'text'],
      ['pipeline_id', 'pipeline.id', 'text'],
      ['pipeline_name', 'pipeline.name', 'text'],
      ['actual', 'actual', 'whole'],
      ...JUDGED,
      ['shift_since', 'shift.since', 'text'],
      ['shift_days', 'shift.days', 'whole'],
      ['shift_actual', 'shift.actual', 'whole'],
      ['shift_expected', 'shift.expected', 'number'],
      ['shift_is_new', 'shift.isNew', 'flag'],
    ])}
    FROM report_issue CROSS JOIN json_each(report_issue.figures ->> '$.insight.expectations') AS each`,

  win_rate_range: sql`CREATE VIEW win_rate_range AS
    -- one row per issue and win rate of 30 days: the usual number of wins among its leads
    -- issue_id: report_issue.id
    -- period_from: UTC: when the period of the issue begins
    -- period_to: UTC: when the period and the 30 days end (exclusive)
    -- pipeline_id: pipeline.id; null for all leads of the report
    -- pipeline_name: name of the pipeline when the issue was made
    -- won: number of leads that were won in the 30 days
    -- decided: number of leads that were won or lost in the 30 days
    -- low: lower bound of the usual range of won, which holds 19 of 20 usual windows of 30 days; null without a range
    -- high: upper bound of that range; both bounds belong to it
    -- expected: win rate that was expected, from 0 to 1; null without a range
    -- judgement: usual, high or low (a single pipeline: only usual); learning: too few leads or earlier windows; withheld: earlier ranges held too rarely
    -- known: number of earlier windows of 30 days that were known
    -- needed: number of such windows that a range needs
    -- hits: how many of the earlier ranges held; null before the first range
    -- of_ranges: number of these earlier ranges
    SELECT ${OF_ISSUE}, ${columns('each.value', [
      ['pipeline_id', 'pipeline.id', 'text'],
      ['pipeline_name', 'pipeline.name', 'text'],
      ['won', 'won', 'whole'],
      ['decided', 'decided', 'whole'],
      ...JUDGED,
    ])}
    FROM report_issue CROSS JOIN json_each(report_issue.figures ->> '$.insight.winRates') AS each`,

  expected_end: sql`CREATE VIEW expected_end AS
    -- one row per issue and number of its Outlook: where a month, quarter or fiscal year will end, and the goal
    ${ABOUT_ISSUE}
    -- figure: new_leads, won, lost or won_value
    -- currency: ISO 4217 for money; null for a number of leads
    -- pipelines: JSON: list of pipeline.id; null for all leads of the report
    -- span: month, quarter or fiscal_year
    -- last_day: local date: the last day of the span
    -- so_far: number of leads, or money, from the start of the span to the end of the period
    -- days_left: number of days of the span that are left
    -- per_day: average of a day of the last 28 days: number of leads, or money
    -- low: lower bound of the range that holds 8 of 10 ends; null if the issue has no forecast
    -- high: upper bound of that range
    -- expected: expected end; null if the issue has no forecast
    -- hits: how many earlier ranges, forecast at the same point of a span, held
    -- of_ranges: number of these earlier ranges
    -- goal: name of the goal; null without one
    -- goal_target: number of leads, or money, that the goal asks for
    -- goal_owner: owner of the goal, as in the settings
    SELECT ${OF_ISSUE}, ${columns('each.value', [
      ['figure', 'figure', 'text'],
      ['currency', 'currency', 'text'],
      ['pipelines', 'pipelines', 'text'],
      ['span', 'span', 'text'],
      ['last_day', 'lastDay', 'text'],
      ['so_far', 'soFar', 'number'],
      ['days_left', 'daysLeft', 'whole'],
      ['per_day', 'perDay', 'number'],
      ['low', 'end.low', 'number'],
      ['high', 'end.high', 'number'],
      ['expected', 'end.expected', 'number'],
      ['hits', 'end.record.hits', 'whole'],
      ['of_ranges', 'end.record.of', 'whole'],
      ['goal', 'goal.name', 'text'],
      ['goal_target', 'goal.target', 'number'],
      ['goal_owner', 'goal.owner', 'text'],
    ])}
    FROM report_issue CROSS JOIN json_each(report_issue.figures ->> '$.insight.pace') AS each`,

  published_record: sql`CREATE VIEW published_record AS
    -- one row per time zone, kind of range, figure and pipelines: how many ranges in published_range held, without those still open
    -- ranges: number of ranges
    -- hits: number of ranges that held: the real number lay within them
    -- windows: number of different time windows, by the column time_window of published_range
    -- windows_hit: for each window the share of its ranges that held, added up
    ${publishedRecords(sql`true`)}`,

  driver_part: sql`CREATE VIEW driver_part AS
    -- one row per issue, unusual number and named part, and one for all other parts: the differences add up to the whole difference
    ${ABOUT_ISSUE}
    -- figure: new_leads or won
    -- figure_actual: the unusual number of leads
    -- figure_expected: number of leads that was expected
    -- dimension: column of lead whose values are the parts: pipeline_id, source, company_country or agent_id
    -- place: 1 for the part with the largest difference; null for all other parts together
    -- part: name of the pipeline, source, country or agent; null for leads without one, and for all other parts
    -- actual: number of leads of the part; null for all other parts
    -- expected: expected number of leads of the part; null for all other parts
    -- difference: actual number of leads of the part minus the expected number
    WITH driver AS (
      SELECT ${OF_ISSUE}, each.value AS driver
      FROM report_issue CROSS JOIN json_each(report_issue.figures ->> '$.insight.drivers') AS each)
    SELECT issue_id, report, period_from, period_to, ${DRIVER}, CAST(part.key AS integer) + 1 AS place, ${columns(
      'part.value',
      [
        ['part', 'name', 'text'],
        ['actual', 'actual', 'whole'],
        ['expected', 'expected', 'number'],
        ['difference', 'difference', 'whole'],
      ],
    )}
    FROM driver CROSS JOIN json_each(driver ->> '$.parts') AS part
    UNION ALL
    SELECT issue_id, report, period_from, period_to, ${DRIVER}, NULL, NULL, NULL, NULL, CAST(driver ->> '$.rest' AS integer)
    FROM driver`,

  urgent_lead: sql`CREATE VIEW urgent_lead AS
    -- one row per issue and urgent lead that it listed: an open lead that was about to stay in its stage longer than nearly all winners
    ${ABOUT_ISSUE}
    -- place: place in the list; 1 has the highest value
    -- lead_id: lead.id
    -- company_name: name of the company at that time
    -- pipeline_id: pipeline.id at that time
    -- status: stage.status at that time
    -- value_amount: expected deal value at that time, in whole units of value_currency; null without a value
    -- value_currency: ISO 4217
    -- stage_days: days that the lead had been in its stage at the end of the period
    -- limit_days: days after which a lead in its stage counts as stalled
    -- is_of_winners: 1: the limit comes from leads that were won; 0: it is stalled_days of the report
    -- is_new: 1: the last issue that was sent did not list the lead; 0: it did
    SELECT ${OF_ISSUE}, CAST(each.key AS integer) + 1 AS place, ${columns('each.value', [
      ['lead_id', 'id', 'text'],
      ['company_name', 'companyName', 'text'],
      ['pipeline_id', 'pipelineId', 'text'],
      ['status', 'status', 'text'],
      ['value_amount', 'value.amount', 'number'],
      ['value_currency', 'value.currency', 'text'],
      ['stage_days', 'stageDays', 'whole'],
      ['limit_days', 'limitDays', 'number'],
      ['is_of_winners', 'isOfWinners', 'flag'],
      ['is_new', 'isNew', 'flag'],
    ])}
    FROM report_issue CROSS JOIN json_each(report_issue.figures ->> '$.insight.urgent.rows') AS each`,
} as const
