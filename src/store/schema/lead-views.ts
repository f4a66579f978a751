/** Views of leads as they are now. */
import { sql } from 'kysely'

export const LEAD_VIEWS = {
  lead_now: sql`CREATE VIEW lead_now AS
    -- leads that are there upstream, with their pipeline's name and how their status counts
    -- outcome: open, won, lost or disqualified, as "stage" has it; a status that is not in there counts as open
    -- closed_at: UTC: when the lead was won, lost or disqualified; null while it is open
    SELECT lead.*, pipeline.name AS pipeline_name, coalesce(stage.outcome, 'open') AS outcome,
      CASE WHEN coalesce(stage.outcome, 'open') <> 'open' THEN lead.status_changed_at END AS closed_at
    FROM lead
    LEFT JOIN pipeline ON pipeline.id = lead.pipeline_id
    LEFT JOIN stage ON stage.status = lead.status
    WHERE lead.deleted_at IS NULL`,
} as const
