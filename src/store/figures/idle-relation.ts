/** The relation of leads that stood still at the end of a period that is not the newest. */
import type { Bounds } from './query-bounds.ts'
import type { Relation } from './relation-name.ts'

export const STALLED_SINCE = `strftime('%Y-%m-%dT%H:%M:%fZ', :to, '-' || :stalled_days || ' days')`

export function idleRelations({ chosen, past }: Bounds) {
  const known = past('AND each.observed_at <= :known_at')
  const last = (table: string) =>
    `coalesce((SELECT max(changed_at) FROM ${table} AS each WHERE each.lead_id = lead_then.lead_id AND changed_at < :to${known}), lead_then.created_at)`
  const next = (table: string) =>
    `coalesce((SELECT min(changed_at) FROM ${table} AS each WHERE each.lead_id = lead_then.lead_id AND changed_at >= :to${known}), '~')`
  return {
    idle_then: {
      reads: [...chosen, 'gone_then', 'lead_then', 'changed'],
      sql: `-- of the changed leads those that were open at the end of the period, and when they had last changed in any way.
    -- That is known (is_known) of one that changed too late to stand still, that a sync read after the period and
    -- before its next change, or whose activity has that change and so all before it
    SELECT lead_id, pipeline_id, changed_at, (changed_at > ${STALLED_SINCE} OR next_at = '~'
        OR next_at >= (SELECT min(leads_as_of) FROM sync_run WHERE leads_as_of >= :to${past('AND leads_as_of <= :known_at')})
          AND EXISTS (SELECT 1 FROM lead_version AS each WHERE each.lead_id = stood.lead_id AND changed_at < :to${known})
        OR EXISTS (SELECT 1 FROM activity WHERE activity.lead_id = stood.lead_id AND at = next_at${past('AND first_seen_at <= :known_at')})) IS TRUE AS is_known
    FROM (
      SELECT lead_id, lead_then.pipeline_id, max(${last('lead_version')},
        ${last('lead_touch')},
        coalesce((SELECT max(at) FROM activity WHERE activity.lead_id = lead_then.lead_id AND at < :to${past('AND first_seen_at <= :known_at')}), lead_then.created_at)) AS changed_at,
        min(${next('lead_version')},
        ${next('lead_touch')}) AS next_at
      FROM lead_then WHERE outcome = 'open' AND lead_id IN (SELECT lead_id FROM changed)) AS stood`,
    },
  } as const satisfies Record<string, Relation>
}
