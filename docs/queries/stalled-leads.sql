-- Leads that have come to a standstill
-- Open, and without a change of any kind for seven days; by currency, that of most leads first, and by value.
SELECT company_name, status, pipeline_name, value_amount, value_currency, updated_at,
  CAST(julianday((SELECT leads_as_of FROM snapshot_info)) - julianday(updated_at) AS INTEGER) AS idle_days
FROM lead_now
WHERE outcome = 'open' AND updated_at < (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', leads_as_of, '-7 days') FROM snapshot_info)
ORDER BY value_amount IS NULL, count(*) OVER (PARTITION BY value_currency) DESC, value_currency, value_amount DESC
LIMIT 50;
