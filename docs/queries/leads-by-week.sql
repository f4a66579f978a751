-- Leads by week, and what became of them
-- By the Monday (UTC) of the week in which they were created.
SELECT date(created_at, '-6 days', 'weekday 1') AS monday, count(*) AS leads, sum(outcome = 'won') AS won,
  sum(outcome IN ('lost', 'disqualified')) AS lost_or_disqualified, sum(outcome = 'open') AS still_open
FROM lead_now
GROUP BY monday
ORDER BY monday DESC;
