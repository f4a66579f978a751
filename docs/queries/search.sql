-- Search companies and activity
-- Words of any kind, the best hits first: see lead_search in the dictionary for what can be written behind MATCH.
SELECT company_name, found, status, score
FROM lead_search
WHERE words MATCH 'solar OR energy'
ORDER BY rank
LIMIT 20;
