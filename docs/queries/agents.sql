-- What the agents are doing
-- Their last state, with the tasks done and failed in the 24 hours before.
SELECT name, kind, status, status_changed_at, task_type, tasks_24h, errors_24h, last_error_message
FROM agent
WHERE deleted_since IS NULL
ORDER BY errors_24h DESC;
