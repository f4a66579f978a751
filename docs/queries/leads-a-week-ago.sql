-- The leads as they were a week ago
-- Counts by status, which is that of their moves; put another instant in place of the one computed here. The row
-- without a status has the leads that were there then and whose history is not known so far back.
WITH past AS (
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', leads_as_of, '-7 days') AS instant FROM snapshot_info
),
there AS (
  SELECT known.*, instant,
    iif(known_from > instant, NULL, coalesce(
      (SELECT to_status FROM stage_move AS move WHERE move.lead_id = known.lead_id AND moved_at <= instant
        ORDER BY moved_at DESC LIMIT 1),
      (SELECT from_status FROM stage_move AS move WHERE move.lead_id = known.lead_id AND moved_at > instant
        ORDER BY moved_at LIMIT 1),
      status)) AS status_then
  FROM past CROSS JOIN lead_known AS known
  WHERE created_at <= instant AND lead_id NOT IN (
    SELECT lead_id FROM lead_deletion WHERE deleted_since <= instant AND (returned_at IS NULL OR returned_at > instant))
)
SELECT status_then AS status, count(*) AS leads
FROM there
LEFT JOIN stage ON stage.status = status_then
GROUP BY status_then
ORDER BY stage.position NULLS LAST;
