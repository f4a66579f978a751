-- The best open leads
-- By score, with the days that each has been in its status.
SELECT company_name, score, status, pipeline_name,
  round(julianday((SELECT leads_as_of FROM snapshot_info)) - julianday(status_changed_at), 1) AS days_in_status
FROM lead_now
WHERE outcome = 'open'
ORDER BY score DESC
LIMIT 20;
