/** The views that analysts query and that the figures are made of. Their SQL is their definition. */
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

const VIEWS = {
  lead_now: sql`CREATE VIEW lead_now AS
    -- leads that are there upstream, with their pipeline's name and how their status counts;
    -- closed_at is when the lead was won, lost or disqualified; a status not in "stage" counts as open
    SELECT lead.*, pipeline.name AS pipeline_name, coalesce(stage.outcome, 'open') AS outcome,
      CASE WHEN coalesce(stage.outcome, 'open') <> 'open' THEN lead.status_changed_at END AS closed_at
    FROM lead
    LEFT JOIN pipeline ON pipeline.id = lead.pipeline_id
    LEFT JOIN stage ON stage.status = lead.status
    WHERE lead.removed_at IS NULL`,

  stage_move: sql`CREATE VIEW stage_move AS
    -- each change of a lead's status that was observed, with the days spent in the status before
    SELECT lead_id, pipeline_id, from_status, status AS to_status, valid_from AS moved_at,
      round(julianday(valid_from) - julianday(since), 2) AS days_before
    FROM (SELECT *, lag(status) OVER lead_in_order AS from_status, lag(valid_from) OVER lead_in_order AS since
      -- only the versions that began a status: those in between changed something else
      FROM (SELECT *, lag(status) OVER lead_in_order AS before FROM lead_version
        WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY valid_from))
      WHERE before IS NULL OR before <> status
      WINDOW lead_in_order AS (PARTITION BY lead_id ORDER BY valid_from))
    WHERE from_status IS NOT NULL`,

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
    ORDER BY latest.pipeline_name, stage.position`,

  pipeline_overview: sql`CREATE VIEW pipeline_overview AS
    -- one row a pipeline: our count of its leads beside the upstream's, and the difference
    SELECT pipeline.id, pipeline.name, pipeline.status, count(lead.id) AS leads,
      count(lead.id) FILTER (WHERE lead.outcome = 'open') AS open,
      count(lead.id) FILTER (WHERE lead.outcome = 'won') AS won,
      count(lead.id) FILTER (WHERE lead.outcome = 'lost') AS lost,
      count(lead.id) FILTER (WHERE lead.outcome = 'disqualified') AS disqualified,
      latest.leads AS leads_upstream, count(lead.id) - latest.leads AS difference, latest.as_of AS upstream_as_of
    FROM pipeline
    LEFT JOIN lead_now AS lead ON lead.pipeline_id = pipeline.id
    LEFT JOIN pipeline_stat_latest AS latest ON latest.pipeline_id = pipeline.id
    GROUP BY pipeline.id`,
} as const

/** Whether the file has these views as written here; an analyst's own beside them are none of our business. */
export async function hasCurrentViews(db: Kysely<Tables>): Promise<boolean> {
  const present = await readViews(db)
  return Object.entries(VIEWS).every(([name, view]) => present.get(name) === view.compile(db).sql)
}

/** Drops every view, since a migration cannot change a table that one reads; returns the text of those not ours. */
export async function dropViews(db: Kysely<Tables>): Promise<string[]> {
  const present = await readViews(db)
  for (const name of present.keys()) await sql`DROP VIEW ${sql.ref(name)}`.execute(db)
  return [...present].filter(([name]) => !(name in VIEWS)).map(([, text]) => text)
}

export async function createViews(db: Kysely<Tables>, others: readonly string[]): Promise<void> {
  for (const view of Object.values(VIEWS)) await view.execute(db)
  // As the file itself had them, so that there is nothing to build or to escape.
  for (const text of others) await db.executeQuery(CompiledQuery.raw(text))
}

async function readViews(db: Kysely<Tables>): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; sql: string }>`
    SELECT name, sql FROM sqlite_schema WHERE type = 'view'`.execute(db)
  return new Map(rows.map((row) => [row.name, row.sql]))
}
