-- Where leads drop out
-- The service's own statistics, last reading, over all of its leads: of those that reached a stage, how many reached
-- the next, and how long they stayed.
SELECT pipeline_name, status, reached, round(100 * conversion, 1) AS percent_of_stage_before, median_hours
FROM funnel_latest;
