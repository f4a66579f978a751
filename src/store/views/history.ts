/** Views of what leads and agents have been through. */
import { sql } from 'kysely'

export const HISTORY_VIEWS = {
  stage_stay: sql`CREATE VIEW stage_stay AS
    -- one row for each stay of a lead in a status; left_at and next_status are null while it lasts, next_status also
    -- where the lead was removed; days up to the end, or up to the last whole reading of the leads
    SELECT lead_id, pipeline_id, from_status AS status, entered_at, moved_at AS left_at, to_status AS next_status,
      days_before AS days
    FROM stage_move
    UNION ALL
    SELECT id, pipeline_id, status, status_changed_at, removed_at, NULL,
      round(julianday(coalesce(removed_at, (SELECT max(leads_as_of) FROM sync_run))) - julianday(status_changed_at), 4)
    FROM lead`,
} as const
