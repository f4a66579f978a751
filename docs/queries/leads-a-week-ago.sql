-- The leads as they were a week ago
-- Counts by status; put another instant in place of the one computed here. lead_day has the changes of whole days, and
-- level_change those of the last part of a day. The row without a status has the leads whose status then is not known.
WITH past AS (
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', leads_as_of, '-7 days') AS instant FROM snapshot_info
),
change AS (
  SELECT status, leads FROM lead_day WHERE day < (SELECT substr(instant, 1, 10) FROM past)
  UNION ALL
  SELECT status, leads FROM level_change
  WHERE at >= (SELECT substr(instant, 1, 10) FROM past) AND at < (SELECT instant FROM past)
)
SELECT status, sum(leads) AS leads
FROM change
LEFT JOIN stage USING (status)
GROUP BY status
HAVING sum(leads) <> 0
ORDER BY stage.position NULLS LAST;
