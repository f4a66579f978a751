-- Changes of status, day by day
-- How many leads are known to have entered each status in the last two weeks; days in UTC. All that moved on that day
-- are in it where known_for is of_leads: of so many leads that may have moved then, so many have a known history.
WITH RECURSIVE day (day) AS (
  SELECT date(leads_as_of, '-14 days') FROM snapshot_info
  UNION ALL SELECT date(day, '+1 day') FROM day WHERE day < (SELECT date(leads_as_of) FROM snapshot_info)
),
moved AS MATERIALIZED (
  SELECT created_at, status_changed_at, known_from
  FROM lead_known WHERE has_moved = 1 AND status_changed_at >= (SELECT min(day) FROM day)
),
coverage AS (
  SELECT day, sum(known_from <= max(day, created_at)) AS known_for, count(*) AS of_leads
  FROM day JOIN moved ON status_changed_at >= day AND created_at < date(day, '+1 day')
  GROUP BY day
)
SELECT day, to_status, count(*) AS leads, known_for, of_leads
FROM coverage JOIN stage_move ON moved_at >= day AND moved_at < date(day, '+1 day')
GROUP BY day, to_status
ORDER BY day DESC, leads DESC;
