-- Where leads drop out
-- The service's own statistics, last reading: of the leads that reached a stage, how many reached the next.
SELECT pipeline_name, status, reached, round(100 * conversion, 1) AS percent_of_stage_before, median_hours
FROM funnel_latest;
