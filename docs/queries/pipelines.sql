-- The pipelines beside each other
-- Our count of the leads beside the service's own; a difference says that one of the two is behind.
SELECT name, status, leads, open, won, lost, disqualified, leads_upstream, difference, upstream_as_of
FROM pipeline_overview
ORDER BY leads DESC;
