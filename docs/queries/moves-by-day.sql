-- Changes of status, day by day
-- How many leads are known to have entered each status in the last two weeks; days in UTC.
SELECT substr(moved_at, 1, 10) AS day, to_status, count(*) AS leads
FROM stage_move
WHERE moved_at >= (SELECT date(leads_as_of, '-14 days') FROM snapshot_info)
GROUP BY day, to_status
ORDER BY day DESC, leads DESC;
