-- Where leads drop out
-- The service's own statistics, last reading, over all of its leads: how many reached the next stage, and how long they stayed.
SELECT pipeline_name, status, reached, round(100 * conversion, 1) AS percent_of_stage_before, median_hours
FROM funnel_latest;
