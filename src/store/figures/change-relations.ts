/**
 * The relations (named subqueries that figures read) that find the changes since the last issue, which is the last
 * one whose messages were put into the outbox. `:since` is the end of its period, but never later than the beginning
 * of this one. `:reported_at` is the time at which its figures were read, or null before the first issue.
 */
import type { Bounds, Relation } from './relation-bounds.ts'

/** Returns -1 for a status outside the funnel or without a stage. */
const placeOf = (status: string): string =>
  `coalesce((SELECT iif(in_funnel = 1, position, -1) FROM stage WHERE stage.status = ${status}), -1)`

const isDeletedAt = (
  at: string,
): string => `EXISTS (SELECT 1 FROM lead_deletion AS each WHERE each.lead_id = news.lead_id
        AND deleted_since < ${at} AND (returned_at IS NULL OR returned_at >= ${at}))`

export function changeRelations({ chosen, inScope, version, storedOr, joinState, stateOf }: Bounds) {
  const statusBefore = storedOr(
    `(SELECT status FROM lead_history AS before WHERE before.lead_id = lead.id AND before.valid_from =
          ${version(' AND valid_from < :since AND (:reported_at IS NULL OR each.observed_at <= :reported_at)', 'DESC')})`,
    'iif(lead.status_changed_at < :since AND (:reported_at IS NULL OR lead.first_seen_at <= :reported_at), lead.status, NULL)',
  )
  const statusAt = (at: string) => `(SELECT to_status FROM stage_move AS each
          WHERE each.lead_id = news.lead_id AND moved_at < ${at} ORDER BY moved_at DESC, to_status DESC LIMIT 1)`
  return {
    news: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads whose status may differ from what the last issue knew
    SELECT DISTINCT lead_id FROM (
      SELECT lead_id FROM stage_move WHERE moved_at >= :since AND moved_at < :to
      UNION ALL SELECT lead_id FROM stage_move WHERE observed_at > :reported_at AND moved_at < :since
      UNION ALL SELECT id FROM lead WHERE first_seen_at > :reported_at AND created_at < :to
      UNION ALL SELECT lead_id FROM lead_version WHERE valid_from >= :since AND valid_from < :to
        AND status IN (SELECT status FROM stage WHERE outcome <> 'open')
      UNION ALL SELECT lead_id FROM lead_deletion WHERE deleted_since >= :since AND deleted_since < :to
      UNION ALL SELECT lead_id FROM lead_deletion WHERE returned_at >= :since AND returned_at < :to) AS news
    ORDER BY lead_id -- what is looked up for each lead then lies in its order`,
    },
    standing: {
      reads: [...chosen, 'news'],
      isMaterialized: true,
      sql: `-- two statuses of each lead in news: the one that the last issue knew, or else the first one since, and the one at
    -- the end of the period. Moves come first, because they may be older than the first state that was read
    SELECT *, coalesce((SELECT max(moved_at) FROM stage_move AS each
        WHERE each.lead_id = stood.lead_id AND moved_at < :to AND each.to_status = stood.to_status),
        status_changed_at, valid_from) AS changed_at
    FROM (
      SELECT lead_id, pipeline_id, value_amount, value_currency, status_changed_at, valid_from,
        coalesce(${statusAt(':to')}, iif(valid_from < :to, status, NULL)) AS to_status,
        coalesce(iif(:reported_at IS NULL, NULL, status_before), ${statusAt(':since')},
          (SELECT from_status FROM stage_move AS each
            WHERE each.lead_id = news.lead_id AND moved_at >= :since AND moved_at < :to
            ORDER BY moved_at, to_status LIMIT 1), status_before) AS from_status,
        ${isDeletedAt(':since')} AS was_deleted, ${isDeletedAt(':to')} AS is_deleted,
        (SELECT max(deleted_since) FROM lead_deletion AS each WHERE each.lead_id = news.lead_id AND deleted_since < :to) AS deleted_since,
        (SELECT max(returned_at) FROM lead_deletion AS each
          WHERE each.lead_id = news.lead_id AND returned_at >= :since AND returned_at < :to) AS returned_at
      FROM (SELECT lead.id AS lead_id, ${stateOf('pipeline_id status value_amount value_currency status_changed_at valid_from')},
          ${statusBefore} AS status_before
        FROM news CROSS JOIN lead ${joinState(':to')} WHERE lead.id = news.lead_id) AS news
      WHERE valid_from IS NOT NULL${inScope()}) AS stood
    WHERE to_status IS NOT NULL`,
    },
    change: {
      reads: [...chosen, 'news', 'standing'],
      isMaterialized: true,
      sql: `-- leads that have changed since the last issue, each once, with the kind of their change
    SELECT sorted.*, CASE kind WHEN 'deleted' THEN deleted_since WHEN 'returned' THEN returned_at ELSE changed_at END AS at
    FROM (SELECT *, CASE
        WHEN is_deleted THEN iif(was_deleted, NULL, 'deleted')
        WHEN from_status IS DISTINCT FROM to_status AND outcome = 'won' THEN 'won'
        WHEN from_status IS DISTINCT FROM to_status AND outcome IN ('lost', 'disqualified') THEN 'lost'
        WHEN returned_at IS NOT NULL THEN 'returned'
        WHEN from_status IS NULL THEN NULL
        WHEN ${placeOf('from_status')} < ${placeOf('to_status')} THEN 'forward'
        WHEN ${placeOf('from_status')} > ${placeOf('to_status')} THEN 'back' END AS kind
      FROM standing LEFT JOIN stage ON stage.status = to_status) AS sorted
    WHERE kind IS NOT NULL`,
    },
  } as const satisfies Record<string, Relation>
}
