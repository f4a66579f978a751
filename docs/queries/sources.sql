-- Where the good leads are found
-- By the place at which the discovering agent found the company: mean score, and what was won.
SELECT source, count(*) AS leads, round(avg(score), 1) AS mean_score, sum(outcome = 'won') AS won,
  sum(value_amount) FILTER (WHERE outcome = 'won') AS won_value
FROM lead_now
GROUP BY source
ORDER BY won DESC;
