-- How long leads stay in each status
-- Median and longest of the stays that are known and ended with another status, by pipeline, in days.
WITH stay AS (
  SELECT pipeline_id, status, days,
    row_number() OVER (PARTITION BY pipeline_id, status ORDER BY days) AS place,
    count(*) OVER (PARTITION BY pipeline_id, status) AS stays
  FROM stage_stay
  WHERE next_status IS NOT NULL AND days IS NOT NULL
)
SELECT pipeline.name AS pipeline_name, stay.status, max(stays) AS stays,
  round(avg(days) FILTER (WHERE place IN ((stays + 1) / 2, (stays + 2) / 2)), 2) AS median_days,
  round(max(days), 1) AS longest_days
FROM stay
JOIN pipeline ON pipeline.id = stay.pipeline_id
LEFT JOIN stage ON stage.status = stay.status
GROUP BY stay.pipeline_id, stay.status
ORDER BY pipeline_name, stage.position;
