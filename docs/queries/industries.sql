-- Which industries buy
-- Win rate: won out of won and lost; industries with fewer than five closed leads are left out.
SELECT company_industry, count(*) AS leads, sum(outcome = 'won') AS won, sum(outcome = 'lost') AS lost,
  round(100.0 * sum(outcome = 'won') / sum(outcome IN ('won', 'lost')), 1) AS win_percent
FROM lead_now
GROUP BY company_industry
HAVING sum(outcome IN ('won', 'lost')) >= 5
ORDER BY win_percent DESC;
