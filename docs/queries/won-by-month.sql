-- What was won, month by month
-- Leads closed as won and their value, by pipeline, month (UTC) and currency.
SELECT strftime('%Y-%m', closed_at) AS month, pipeline_name, count(*) AS won, sum(value_amount) AS value,
  value_currency
FROM lead_now
WHERE outcome = 'won'
GROUP BY month, pipeline_name, value_currency
ORDER BY month DESC, won DESC;
