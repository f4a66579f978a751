/**
 * The relations (named subqueries that figures read) that find the changes since the last issue, which is the last
 * one whose messages were put into the outbox. `:since` is the end of its period, but never later than the beginning
 * of this one. `:reported_at` is the time at which its figures were read, or null before the first issue.
 */
import type { Bounds, Relation } from './relation-bounds.ts'

const INSTANT_LENGTH = '2026-11-20T00:00:00.000Z'.length

/** Returns -1 for a stage outside the funnel and for none. */
const placeOf = (stage: string): string => `iif(${stage}.in_funnel = 1, ${stage}.position, -1)`

const isDeletedAt = (
  at: string,
): string => `EXISTS (SELECT 1 FROM lead_deletion AS each WHERE each.lead_id = news.lead_id
        AND deleted_since < ${at} AND (returned_at IS NULL OR returned_at >= ${at}))`

export function changeRelations({ chosen, inScope, version, storedOr, joinState, stateOf }: Bounds) {
  const statusBefore = storedOr(
    version(
      'status',
      ' AND valid_from < :since AND (:reported_at IS NULL OR each.observed_at <= :reported_at)',
      'DESC',
    ),
    'iif(lead.status_changed_at < :since AND (:reported_at IS NULL OR lead.first_seen_at <= :reported_at), lead.status, NULL)',
  )
  const lastMove = (column: string, at: string) => `(SELECT ${column} FROM stage_move AS each
          WHERE each.lead_id = news.lead_id AND moved_at < ${at} ORDER BY moved_at DESC, to_status DESC LIMIT 1)`
  return {
    news: {
      reads: [],
      isMaterialized: true,
      sql: `-- leads whose status may differ from what the last issue knew
    SELECT lead_id, max(move) AS last_move FROM (
      SELECT lead_id, moved_at || to_status AS move FROM stage_move WHERE moved_at >= :since AND moved_at < :to
      UNION ALL SELECT lead_id, NULL FROM stage_move WHERE observed_at > :reported_at AND moved_at < :since
      UNION ALL SELECT id, NULL FROM lead WHERE first_seen_at > :reported_at AND created_at < :to
      UNION ALL SELECT lead_id, NULL FROM lead_version WHERE valid_from >= :since AND valid_from < :to
        AND status IN (SELECT status FROM stage WHERE outcome <> 'open')
      UNION ALL SELECT lead_id, NULL FROM lead_deletion WHERE deleted_since >= :since AND deleted_since < :to
      UNION ALL SELECT lead_id, NULL FROM lead_deletion WHERE returned_at >= :since AND returned_at < :to) AS news
    GROUP BY lead_id ORDER BY lead_id -- what is looked up for each lead then lies in its order`,
    },
    standing: {
      reads: [...chosen, 'news'],
      isMaterialized: true,
      sql: `-- two statuses of each lead in news: the one that the last issue knew, or else the first one since, and the one at
    -- the end of the period. Moves come first, because they may be older than the first state that was read
    SELECT * FROM (
      SELECT lead_id, pipeline_id, value_amount, value_currency,
        coalesce(substr(last_move, 1, ${INSTANT_LENGTH}), status_changed_at, valid_from) AS changed_at,
        coalesce(substr(last_move, 1 + ${INSTANT_LENGTH}), iif(valid_from < :to, status, NULL)) AS to_status,
        coalesce(iif(:reported_at IS NULL, NULL, status_before), ${lastMove('to_status', ':since')},
          (SELECT from_status FROM stage_move AS each
            WHERE each.lead_id = news.lead_id AND moved_at >= :since AND moved_at < :to
            ORDER BY moved_at, to_status LIMIT 1), status_before) AS from_status,
        ${isDeletedAt(':since')} AS was_deleted, ${isDeletedAt(':to')} AS is_deleted,
        (SELECT max(deleted_since) FROM lead_deletion AS each WHERE each.lead_id = news.lead_id AND deleted_since < :to) AS deleted_since,
        (SELECT max(returned_at) FROM lead_deletion AS each
          WHERE each.lead_id = news.lead_id AND returned_at >= :since AND returned_at < :to) AS returned_at
      FROM (SELECT lead.id AS lead_id, ${stateOf('pipeline_id status value_amount value_currency status_changed_at valid_from')},
          ${statusBefore} AS status_before, coalesce(last_move, ${lastMove('moved_at || to_status', ':to')}) AS last_move
        FROM news CROSS JOIN lead ${joinState(':to')} WHERE lead.id = news.lead_id) AS news
      WHERE valid_from IS NOT NULL${inScope()}) AS stood
    WHERE to_status IS NOT NULL`,
    },
    change: {
      reads: [...chosen, 'news', 'standing'],
      sql: `-- leads that have changed since the last issue, each once, with the kind of their change
    SELECT sorted.*, CASE kind WHEN 'deleted' THEN deleted_since WHEN 'returned' THEN returned_at ELSE changed_at END AS at
    FROM (SELECT standing.*, CASE
        WHEN is_deleted THEN iif(was_deleted, NULL, 'deleted')
        WHEN from_status IS DISTINCT FROM to_status AND present.outcome = 'won' THEN 'won'
        WHEN from_status IS DISTINCT FROM to_status AND present.outcome IN ('lost', 'disqualified') THEN 'lost'
        WHEN returned_at IS NOT NULL THEN 'returned'
        WHEN from_status IS NULL THEN NULL
        WHEN ${placeOf('former')} < ${placeOf('present')} THEN 'forward'
        WHEN ${placeOf('former')} > ${placeOf('present')} THEN 'back' END AS kind
      FROM standing LEFT JOIN stage AS former ON former.status = from_status
        LEFT JOIN stage AS present ON present.status = to_status) AS sorted
    WHERE kind IS NOT NULL`,
    },
  } as const satisfies Record<string, Relation>
}
