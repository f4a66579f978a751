/**
 * Since when each status of a lead that has moved is known without a gap: by the view lead_known, or the same by what
 * was known at `:known_at`. Both have lead_id, pipeline_id, created_at, changed_at (of the status) and known_from.
 */

/** By status, since an index has the leads of each in the order of their last change. */
export const KNOWN_NOW = `
      SELECT lead_id, pipeline_id, created_at, status_changed_at AS changed_at, known_from
      FROM (SELECT DISTINCT status FROM lead_count) AS each CROSS JOIN lead_known
      WHERE lead_known.status = each.status AND has_moved = 1`

const SETTLED = `strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '+60 seconds')`

const ENDS_GAP = `from_status <> status AND (
            before IS DISTINCT FROM from_status AND from_status IS DISTINCT FROM (
              SELECT status FROM stage WHERE in_funnel = 1 ORDER BY position LIMIT 1)
            OR told_from IS NULL AND EXISTS (SELECT 1 FROM activity WHERE first_seen_at <= :known_at AND to_status IS NOT NULL))`

export const KNOWN_THEN = `
      SELECT lead_id, pipeline_id, created_at, changed_at, iif(known_from > ${SETTLED}, known_from, created_at) AS known_from
      FROM (
        SELECT lead_id, pipeline_id, created_at, max(entered_at) AS changed_at, coalesce(
          max(entered_at) FILTER (WHERE ${ENDS_GAP}),
          min(CASE WHEN from_status IS NULL THEN entered_at WHEN before IS NULL THEN created_at END)) AS known_from
        FROM entered GROUP BY lead_id, pipeline_id, created_at) AS each
      WHERE changed_at > ${SETTLED}`
