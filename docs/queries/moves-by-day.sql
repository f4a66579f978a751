-- Changes of status, day by day
-- How many leads entered each status in the last two weeks; days in UTC.
SELECT date(moved_at) AS day, to_status, count(*) AS leads
FROM stage_move
WHERE moved_at >= date((SELECT leads_as_of FROM snapshot_info), '-14 days')
GROUP BY day, to_status
ORDER BY day DESC, leads DESC;
