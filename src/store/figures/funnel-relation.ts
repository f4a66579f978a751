/** The relation of the funnel that we count ourselves. */

import { KNOWN_NOW, KNOWN_THEN } from './known-relation.ts'
import type { Bounds } from './query-bounds.ts'
import type { Relation } from './relation-name.ts'

export function funnelRelations({ chosen, isPast }: Bounds) {
  return {
    reach: {
      reads: [...chosen, 'gone_then', 'lead_now', ...(isPast ? (['entered'] as const) : [])],
      isMaterialized: true,
      sql: `-- how far each lead whose whole history is known had come by the end of the period; all have come to the first stage
    SELECT max((SELECT min(position) FROM stage WHERE in_funnel = 1),
      coalesce((SELECT position FROM stage WHERE stage.status = lead_now.status AND in_funnel = 1 AND status_changed_at < :to), 0),
      coalesce((SELECT max(position) FROM stage_move JOIN stage ON in_funnel = 1
          AND (status = to_status AND moved_at < :to OR status = from_status AND coalesce(entered_at, '') < :to)
        WHERE stage_move.lead_id = lead_now.lead_id), 0)) AS position
    FROM lead_now WHERE created_at < :to AND lead_id NOT IN (SELECT lead_id FROM gone_then)
      AND lead_id NOT IN (
        SELECT lead_id FROM (${isPast ? KNOWN_THEN : KNOWN_NOW}) AS lead_known WHERE known_from > created_at)`,
    },
  } as const satisfies Record<string, Relation>
}
