/** The SQL of the views that analysts and figures read. A view comes after the views that it reads. */
import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { fieldsWith, LEAD_FIELDS } from '../../domain/lead-fields.ts'
import { LEVEL_CHANGE } from '../leads/level-change.ts'
import type { Tables } from '../tables/tables.ts'
import { quoted } from './describe.ts'

const TRACKED = sql.join(fieldsWith('hasHistory').map(({ column }) => sql.ref(column)))

/** Groups rows of published_range (chosen by `where`) in the order of the primary key, which saves sorting. */
export function publishedRecords(where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`SELECT time_zone, kind, figure, pipelines, CAST(sum(ranges) AS bigint) AS ranges, CAST(sum(hits) AS bigint) AS hits,
      count(*) AS windows, sum(CAST(hits AS double precision) / ranges) AS windows_hit
    FROM (SELECT time_zone, kind, figure, pipelines, count(*) AS ranges,
        count(*) FILTER (WHERE actual BETWEEN low AND high) AS hits
      FROM published_range WHERE actual IS NOT NULL AND ${where}
      GROUP BY time_zone, kind, figure, pipelines, time_window) AS by_window
    GROUP BY time_zone, kind, figure, pipelines`
}

/**
 * Writes the view of the leads. In a snapshot it has also the declared fields, which are columns of the table
 * `lead_field` there.
 */
export function leadNowSql(fields: readonly string[]): string {
  // Without the columns that only the program needs.
  const columns = [
    ...LEAD_FIELDS.map(({ column }) => `lead.${column}`),
    ...['lead.first_seen_at', 'lead.observed_at', 'pipeline.name AS pipeline_name'],
    "coalesce(stage.outcome, 'open') AS outcome",
    "CASE WHEN coalesce(stage.outcome, 'open') <> 'open' THEN lead.status_changed_at END AS closed_at",
    ...fields.map((name) => `lead_field.${quoted(name)}`),
  ]
  return `CREATE VIEW lead_now AS
    -- one row per lead that exists in the service, with the name of its pipeline and its outcome
    -- outcome: open, won, lost or disqualified, by the table stage; a status that is not in that table counts as open
    -- closed_at: UTC: when the lead was won, lost or disqualified; null while it is open
    SELECT ${columns.join(', ')}
    FROM lead
    LEFT JOIN pipeline ON pipeline.id = lead.pipeline_id
    LEFT JOIN stage ON stage.status = lead.status${
      fields.length === 0 ? '' : '\n    LEFT JOIN lead_field ON lead_field.lead_no = lead.no'
    }
    WHERE lead.deleted_at IS NULL`
}

export const VIEWS = {
  // The casts give both parts of the UNION the same types; otherwise SQLite would compute all versions before
  // it searches them.
  lead_version: sql`CREATE VIEW lead_version AS
    -- one row per state of a lead: a new state begins when a tracked field (pipeline_id to agent_id) changes
    -- lead_id: lead.id
    -- valid_from: UTC: when the state began; by the upstream's clock if it gives a time, by ours after a deleted lead returned
    -- changed_at: UTC: earliest known lead.updated_at in this state; by our clock if the upstream gives no such time
    -- observed_at: UTC, by our clock: when we first read this state
    SELECT lead_id, valid_from, valid_to, changed_at, status_changed_at, observed_at, ${TRACKED}, run_id
    FROM lead_history
    UNION ALL
    SELECT id, status_changed_at, CAST(NULL AS TEXT), updated_at,
      CAST(CASE derived_version WHEN 1 THEN status_changed_at END AS TEXT), first_seen_at, ${TRACKED}, run_id
    FROM lead WHERE derived_version IS NOT NULL`,

  lead_now: sql.raw(leadNowSql([])),

  stage_stay: sql`CREATE VIEW stage_stay AS
    -- one row per known stay of a lead in a status
    -- lead_id: lead.id
    -- entered_at: UTC: when the stay began; null if its beginning is unknown
    -- left_at: UTC: when the stay ended, by a move or because the lead was deleted; null while it lasts
    -- next_status: stage.status of the next stay; null while this stay lasts, or if the lead was deleted
    -- days: length of the stay; while it lasts, up to the last sync that read the leads to the end
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, to_status AS next_status,
      days_before AS days
    FROM stage_move
    UNION ALL
    SELECT id, pipeline_id, status, status_changed_at, deleted_at, NULL, max(0,
      round(julianday(coalesce(deleted_at, (SELECT max(leads_as_of) FROM sync_run))) - julianday(status_changed_at), 4))
    FROM lead`,

  level_change: LEVEL_CHANGE,

  agent_outage: sql`CREATE VIEW agent_outage AS
    -- one row per outage of an agent: samples in a row in which its status was failing, failed, error, errored, down, offline, crashed, unhealthy or degraded
    -- began_at: UTC, by our clock: the first sample that found it failing
    -- ended_at: UTC, by our clock: the first sample that did not find it failing, or when the agent was deleted; null while the outage lasts
    -- samples: number of samples that found it failing
    -- hours: hours from began_at to ended_at; while the outage lasts, to the last sample
    WITH reading AS (
      SELECT agent_id, observed_at, lower(status) IN ('failing', 'failed', 'error', 'errored', 'down', 'offline',
        'crashed', 'unhealthy', 'degraded') AS is_failing
      FROM agent_sample),
    started AS (
      SELECT agent_id, observed_at AS began_at, (SELECT min(observed_at) FROM reading AS later
          WHERE later.agent_id = started.agent_id AND later.observed_at > started.observed_at AND NOT is_failing) AS next_at
      FROM reading AS started
      WHERE is_failing AND NOT coalesce((SELECT is_failing FROM reading AS before
          WHERE before.agent_id = started.agent_id AND before.observed_at < started.observed_at
          ORDER BY before.observed_at DESC LIMIT 1), false)),
    outage AS (
      SELECT *, (SELECT count(*) FROM agent_sample AS each WHERE each.agent_id = started.agent_id
          AND observed_at >= began_at AND observed_at < coalesce(next_at, '~')) AS samples,
        (SELECT max(observed_at) FROM agent_sample AS each WHERE each.agent_id = started.agent_id
          AND observed_at < coalesce(next_at, '~')) AS last_at
      FROM started)
    SELECT agent_id, agent.name AS agent_name, began_at, coalesce(next_at, deleted_since) AS ended_at, samples,
      round(24 * (julianday(coalesce(next_at, deleted_since, last_at)) - julianday(began_at)), 2) AS hours
    FROM outage JOIN agent ON agent.id = outage.agent_id`,

  pipeline_stat_latest: sql`CREATE VIEW pipeline_stat_latest AS
    -- one row per pipeline: the last sample of its statistics, as the upstream computes them
    SELECT pipeline.name AS pipeline_name, pipeline_stat.*
    FROM pipeline JOIN pipeline_stat ON pipeline_stat.pipeline_id = pipeline.id
      AND pipeline_stat.observed_at = (SELECT max(observed_at) FROM pipeline_stat AS other
        WHERE other.pipeline_id = pipeline.id)`,

  funnel_latest: sql`CREATE VIEW funnel_latest AS
    -- one row per stage in the last statistics of each pipeline, in funnel order
    SELECT latest.pipeline_id, latest.pipeline_name, latest.as_of, stat.status, stage.position, stat.current,
      stat.reached, stat.conversion, stat.median_hours
    FROM pipeline_stat_latest AS latest
    JOIN pipeline_stage_stat AS stat USING (pipeline_id, observed_at)
    LEFT JOIN stage ON stage.status = stat.status
    ORDER BY latest.pipeline_name, stage.position NULLS FIRST`,

  pipeline_overview: sql`CREATE VIEW pipeline_overview AS
    -- one row per pipeline: our count of its leads, the count of the upstream, and the difference
    -- leads: leads that exist, in any status
    -- leads_upstream: pipeline_stat.leads, as counted by the upstream
    -- difference: leads - leads_upstream
    SELECT pipeline.id, pipeline.name, pipeline.status, ours.leads, ours.open, ours.won, ours.lost, ours.disqualified,
      latest.leads AS leads_upstream, ours.leads - latest.leads AS difference, latest.as_of AS upstream_as_of
    FROM (
      SELECT pipeline.id, coalesce(sum(leads), 0) AS leads,
        coalesce(sum(leads) FILTER (WHERE coalesce(outcome, 'open') = 'open'), 0) AS open,
        coalesce(sum(leads) FILTER (WHERE outcome = 'won'), 0) AS won,
        coalesce(sum(leads) FILTER (WHERE outcome = 'lost'), 0) AS lost,
        coalesce(sum(leads) FILTER (WHERE outcome = 'disqualified'), 0) AS disqualified
      FROM pipeline
      LEFT JOIN lead_day ON lead_day.pipeline_id = pipeline.id
      LEFT JOIN stage ON stage.status = lead_day.status
      GROUP BY pipeline.id) AS ours
    JOIN pipeline ON pipeline.id = ours.id
    LEFT JOIN pipeline_stat_latest AS latest ON latest.pipeline_id = pipeline.id`,

  published_record: sql`CREATE VIEW published_record AS
    -- one row per time zone, kind of range, figure and pipelines: how many ranges in published_range held, without those still open
    -- ranges: number of ranges
    -- hits: number of ranges that held: the real number lay within them
    -- windows: number of different time windows, by the column time_window of published_range
    -- windows_hit: for each window the share of its ranges that held, added up
    ${publishedRecords(sql`true`)}`,
} as const

/** Tells whether the file has the views in `VIEWS` with the same SQL. Views of analysts are not checked. */
export async function hasCurrentViews(db: Kysely<Tables>): Promise<boolean> {
  const present = await readViews(db)
  return Object.entries(VIEWS).every(([name, view]) => present.get(name) === view.compile(db).sql)
}

/** A migration cannot change a table that a view reads. Returns the texts of analysts' views by name. */
export async function dropViews(db: Kysely<Tables>): Promise<Map<string, string>> {
  const present = await readViews(db)
  for (const name of present.keys()) await sql`DROP VIEW ${sql.ref(name)}`.execute(db)
  return new Map([...present].filter(([name]) => !(name in VIEWS)))
}

/** Leaves out an analyst's view if a table now has the same name. */
export async function createViews(db: Kysely<Tables>, others: ReadonlyMap<string, string>): Promise<void> {
  for (const view of Object.values(VIEWS)) await view.execute(db)
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema`.execute(db)
  const taken = new Set(rows.map((row) => row.name))
  // Because the texts come from the file itself, nothing needs escaping.
  for (const [name, text] of others) if (!taken.has(name)) await db.executeQuery(CompiledQuery.raw(text))
}

async function readViews(db: Kysely<Tables>): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; sql: string }>`
    SELECT name, sql FROM sqlite_schema WHERE type = 'view'`.execute(db)
  return new Map(rows.map((row) => [row.name, row.sql]))
}
