/** Views of what leads, pipelines and agents have been through. */
import { sql } from 'kysely'

export const HISTORY_VIEWS = {
  stage_stay: sql`CREATE VIEW stage_stay AS
    -- one row for each stay of a lead in a status that is known; lead_known says since when all of a lead are known
    -- lead_id: lead.id
    -- entered_at: UTC: when the stay began; null where it began before what is known
    -- left_at: UTC: when it ended, also by the removal of the lead; null while it lasts
    -- next_status: stage.status that the lead went on to; null while the stay lasts and where the lead was removed
    -- days: how long it lasted, or has lasted at the last whole reading of the leads
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, to_status AS next_status,
      days_before AS days
    FROM stage_move
    UNION ALL
    SELECT id, pipeline_id, status, status_changed_at, deleted_at, NULL, max(0,
      round(julianday(coalesce(deleted_at, (SELECT max(leads_as_of) FROM sync_run))) - julianday(status_changed_at), 4))
    FROM lead`,

  lead_known: sql`CREATE VIEW lead_known AS
    -- one row a lead: since when its status is known without a gap. Its history is known for a period where known_from is not after the beginning of the period or the creation of the lead
    -- lead_id: lead.id
    -- has_moved: 1: its status changed after the lead was created; 0: it did not, but for the first minute
    -- known_from: UTC: each status since then is known; created_at where all are. Where the upstream lists what leads went through, a move that only two readings tell of ends a gap until the details are read again, since there may be more between
    SELECT id AS lead_id, pipeline_id, status, created_at, status_changed_at,
      iif(status_changed_at > settled_at, 1, 0) AS has_moved, coalesce(
        -- the end of the last gap; without one the beginning of the first move: in the first stage a lead is from its creation on
        (SELECT CASE WHEN gap_ended_at IS NOT NULL THEN gap_ended_at
            WHEN began_at > created_at AND began_at > settled_at THEN began_at
            WHEN began_at IS NOT NULL THEN created_at END
          FROM (SELECT min(coalesce(entered_at, lead.created_at)) AS began_at,
              max(moved_at) FILTER (WHERE entered_at IS NULL AND from_status IS DISTINCT FROM (
                  SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1)
                OR source = 'version' AND EXISTS (
                  SELECT 1 FROM (SELECT lead_id FROM lead_detail LIMIT 1000) AS detail
                  JOIN activity USING (lead_id) WHERE to_status IS NOT NULL)) AS gap_ended_at
            FROM stage_move WHERE stage_move.lead_id = lead.id) AS moves),
        iif(status_changed_at > settled_at, status_changed_at, created_at)) AS known_from
    FROM (SELECT *, strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+60 seconds') AS settled_at FROM lead) AS lead`,

  agent_outage: sql`CREATE VIEW agent_outage AS
    -- one row for each run of readings in which an agent was failing: failing, failed, error, errored, down, offline, crashed, unhealthy or degraded
    -- began_at: UTC, by our clock: the first reading that found it failing
    -- ended_at: UTC, by our clock: the first reading that did not, or when the agent was gone; null while it lasts
    -- readings: how many found it failing
    -- hours: from began_at to ended_at, or to the last reading while it lasts
    WITH reading AS (
      SELECT agent_id, observed_at, lower(status) IN ('failing', 'failed', 'error', 'errored', 'down', 'offline',
        'crashed', 'unhealthy', 'degraded') AS is_failing
      FROM agent_sample),
    placed AS (
      SELECT *, lead(observed_at) OVER (PARTITION BY agent_id ORDER BY observed_at) AS next_at,
        row_number() OVER (PARTITION BY agent_id ORDER BY observed_at)
          - row_number() OVER (PARTITION BY agent_id, is_failing ORDER BY observed_at) AS run
      FROM reading),
    outage AS (
      SELECT agent_id, min(observed_at) AS began_at, max(observed_at) AS last_at, count(*) AS readings,
        iif(count(next_at) = count(*), max(next_at), NULL) AS next_at
      FROM placed WHERE is_failing GROUP BY agent_id, run)
    SELECT agent_id, agent.name AS agent_name, began_at, coalesce(next_at, deleted_since) AS ended_at, readings,
      round(24 * (julianday(coalesce(next_at, deleted_since, last_at)) - julianday(began_at)), 2) AS hours
    FROM outage JOIN agent ON agent.id = outage.agent_id`,

  pipeline_stat_change: sql`CREATE VIEW pipeline_stat_change AS
    -- one row for each reading of a pipeline's statistics but the first: how much more it counts than the one before
    -- since: UTC, by the upstream's clock: as_of of the reading before
    -- leads_change: of all leads
    -- open_change: of leads that are open
    -- won_change: of leads that were won
    -- lost_change: of leads that were lost
    -- disqualified_change: of leads that were disqualified
    SELECT * FROM (
      SELECT pipeline_id, as_of, lag(as_of) OVER readings AS since,
        leads - lag(leads) OVER readings AS leads_change, open - lag(open) OVER readings AS open_change,
        won - lag(won) OVER readings AS won_change, lost - lag(lost) OVER readings AS lost_change,
        disqualified - lag(disqualified) OVER readings AS disqualified_change
      FROM pipeline_stat WINDOW readings AS (PARTITION BY pipeline_id ORDER BY observed_at)) AS reading
    WHERE since IS NOT NULL`,
} as const
