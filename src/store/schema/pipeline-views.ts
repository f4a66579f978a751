/** Views of pipelines: the service's own statistics, and our counts beside them. */
import { sql } from 'kysely'

export const PIPELINE_VIEWS = {
  pipeline_stat_latest: sql`CREATE VIEW pipeline_stat_latest AS
    -- the last reading of each pipeline's statistics, as the upstream computes them
    SELECT pipeline.name AS pipeline_name, pipeline_stat.*
    FROM pipeline_stat JOIN pipeline ON pipeline.id = pipeline_stat.pipeline_id
    WHERE pipeline_stat.observed_at = (SELECT max(observed_at) FROM pipeline_stat AS other
      WHERE other.pipeline_id = pipeline_stat.pipeline_id)`,

  funnel_latest: sql`CREATE VIEW funnel_latest AS
    -- the stages of the last reading of each pipeline's statistics, in funnel order
    SELECT latest.pipeline_id, latest.pipeline_name, latest.as_of, stat.status, stage.position, stat.current,
      stat.reached, stat.conversion, stat.median_hours
    FROM pipeline_stat_latest AS latest
    JOIN pipeline_stage_stat AS stat USING (pipeline_id, observed_at)
    LEFT JOIN stage ON stage.status = stat.status
    ORDER BY latest.pipeline_name, stage.position NULLS FIRST`,

  pipeline_overview: sql`CREATE VIEW pipeline_overview AS
    -- one row a pipeline: our count of its leads beside the upstream's, and the difference
    -- leads: leads that are there, of whatever status
    -- leads_upstream: pipeline_stat.leads, by the upstream's own count
    -- difference: leads less leads_upstream
    SELECT pipeline.id, pipeline.name, pipeline.status, ours.leads, ours.open, ours.won, ours.lost, ours.disqualified,
      latest.leads AS leads_upstream, ours.leads - latest.leads AS difference, latest.as_of AS upstream_as_of
    FROM (
      SELECT pipeline.id, coalesce(sum(leads), 0) AS leads,
        coalesce(sum(leads) FILTER (WHERE coalesce(outcome, 'open') = 'open'), 0) AS open,
        coalesce(sum(leads) FILTER (WHERE outcome = 'won'), 0) AS won,
        coalesce(sum(leads) FILTER (WHERE outcome = 'lost'), 0) AS lost,
        coalesce(sum(leads) FILTER (WHERE outcome = 'disqualified'), 0) AS disqualified
      FROM pipeline
      LEFT JOIN lead_count ON lead_count.pipeline_id = pipeline.id
      LEFT JOIN stage ON stage.status = lead_count.status
      GROUP BY pipeline.id) AS ours
    JOIN pipeline ON pipeline.id = ours.id
    LEFT JOIN pipeline_stat_latest AS latest ON latest.pipeline_id = pipeline.id`,
} as const
