-- The leads as they were a week ago
-- Counts by status of the states that were valid then; put another instant in place of the one computed here.
WITH past AS (
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', leads_as_of, '-7 days') AS instant FROM snapshot_info
)
SELECT version.status, count(*) AS leads
FROM past
-- The plus has SQLite read the whole table, which is faster here than an index that most of its rows are looked up by.
JOIN lead_version AS version
  ON +version.valid_from <= past.instant AND (version.valid_to IS NULL OR version.valid_to > past.instant)
LEFT JOIN stage ON stage.status = version.status
GROUP BY version.status
ORDER BY stage.position;
