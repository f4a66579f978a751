/** Views of what leads and agents have been through. */
import { sql } from 'kysely'

export const HISTORY_VIEWS = {
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
} as const
