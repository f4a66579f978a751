/** The upstream's own statistics beside the same figures as we count them. */
import { sql } from 'kysely'

export const FIGURE_VIEWS = {
  stat_reconciliation: sql`CREATE VIEW stat_reconciliation AS
    -- one row for each figure that the last reading of a pipeline's statistics tells, beside our own at the moment that it is of
    -- figure: leads, open, won, lost and disqualified count leads; win_rate is won / (won + lost); open_value and won_value are money
    -- currency: ISO 4217, of a value; null for other figures
    -- ours: counted from our history as of as_of; money in whole units of the column currency
    -- upstream: as the upstream computes it
    -- difference: ours - upstream; in a whole reading with a steady upstream it is 0
    WITH level AS (
      -- the counts of now, with the states that have ended since as_of put back, those that have begun since taken out,
      -- and leads that were there before their first known state
      SELECT pipeline_id, coalesce(outcome, 'open') AS outcome, value_currency, lead_count.leads, lead_count.value_amount
      FROM pipeline_stat_latest JOIN lead_count USING (pipeline_id) LEFT JOIN stage ON stage.status = lead_count.status
      UNION ALL
      SELECT pipeline_id, coalesce(outcome, 'open'), value_currency, 1, ifnull(value_amount, 0)
      FROM pipeline_stat_latest JOIN lead_version USING (pipeline_id) LEFT JOIN stage ON stage.status = lead_version.status
      WHERE valid_to > as_of
      UNION ALL
      SELECT pipeline_id, coalesce(outcome, 'open'), value_currency, -1, -ifnull(value_amount, 0)
      FROM pipeline_stat_latest JOIN lead_version USING (pipeline_id) LEFT JOIN stage ON stage.status = lead_version.status
      WHERE valid_from > as_of
      UNION ALL
      SELECT state.pipeline_id, 'open', state.value_currency, 1, ifnull(state.value_amount, 0)
      FROM pipeline_stat_latest JOIN lead ON first_seen_at > as_of AND created_at <= as_of
      JOIN lead_version AS state ON state.pipeline_id = pipeline_stat_latest.pipeline_id AND state.valid_from > as_of
        AND state.rowid = (SELECT rowid FROM lead_version AS each WHERE each.lead_id = lead.id ORDER BY valid_from LIMIT 1)),
    counted AS (
      SELECT pipeline_id, sum(leads) AS leads, ifnull(sum(leads) FILTER (WHERE outcome = 'open'), 0) AS open,
        ifnull(sum(leads) FILTER (WHERE outcome = 'won'), 0) AS won,
        ifnull(sum(leads) FILTER (WHERE outcome = 'lost'), 0) AS lost,
        ifnull(sum(leads) FILTER (WHERE outcome = 'disqualified'), 0) AS disqualified
      FROM level GROUP BY pipeline_id),
    valued AS (
      SELECT pipeline_id, outcome, value_currency, round(round(sum(value_amount), 4), 2) + 0 AS amount
      FROM level GROUP BY pipeline_id, outcome, value_currency),
    compared AS (
      SELECT stat.*, figure.value AS figure,
        CASE figure.value WHEN 'open_value' THEN open_value_currency WHEN 'won_value' THEN won_value_currency END AS currency,
        CASE figure.value WHEN 'leads' THEN stat.leads WHEN 'open' THEN stat.open WHEN 'won' THEN stat.won
          WHEN 'lost' THEN stat.lost WHEN 'disqualified' THEN stat.disqualified WHEN 'win_rate' THEN win_rate
          WHEN 'open_value' THEN open_value_amount ELSE won_value_amount END AS upstream
      FROM pipeline_stat_latest AS stat
      CROSS JOIN json_each('["leads","open","won","lost","disqualified","win_rate","open_value","won_value"]') AS figure),
    reconciled AS (
      SELECT compared.pipeline_id, pipeline_name, figure, currency, upstream, as_of, CASE figure
          WHEN 'leads' THEN ifnull(counted.leads, 0) WHEN 'open' THEN ifnull(counted.open, 0)
          WHEN 'won' THEN ifnull(counted.won, 0) WHEN 'lost' THEN ifnull(counted.lost, 0)
          WHEN 'disqualified' THEN ifnull(counted.disqualified, 0)
          WHEN 'win_rate' THEN round(CAST(counted.won AS double precision) / nullif(counted.won + counted.lost, 0), 4)
          ELSE ifnull((SELECT amount FROM valued WHERE valued.pipeline_id = compared.pipeline_id
            AND value_currency = currency AND outcome = substr(figure, 1, instr(figure, '_') - 1)), 0) END AS ours
      FROM compared LEFT JOIN counted ON counted.pipeline_id = compared.pipeline_id WHERE upstream IS NOT NULL)
    SELECT pipeline_id, pipeline_name, figure, currency, ours, upstream, round(ours - upstream, 4) AS difference, as_of
    FROM reconciled`,
} as const
