-- Where the good leads are found
-- By the place at which the discovering agent found the company: mean score, and what was won, in each currency.
SELECT source, count(*) AS leads, round(avg(score), 1) AS mean_score, sum(outcome = 'won') AS won,
  (SELECT group_concat(currency_sum, ' + ') FROM (
    SELECT value_currency || ' ' || round(sum(value_amount), 2) AS currency_sum FROM lead_now AS each
    WHERE each.source IS lead_now.source AND outcome = 'won' GROUP BY value_currency ORDER BY count(*) DESC)) AS won_value
FROM lead_now
GROUP BY source
ORDER BY won DESC;
