-- What the store deletes at each step of its retention, also while the feature is off; in this order.

-- name: task_messages
DELETE FROM task_messages WHERE seq IN (
    SELECT task_messages.seq FROM tasks JOIN task_messages USING (task_id) WHERE ended_at < :before_utc_s LIMIT :limit
);

-- name: action_logs
DELETE FROM action_logs WHERE seq IN (
    SELECT action_logs.seq FROM tasks JOIN actions USING (task_id) JOIN action_logs USING (action_id)
    WHERE ended_at < :before_utc_s LIMIT :limit
);

-- name: actions
DELETE FROM actions WHERE seq IN (
    SELECT actions.seq FROM tasks JOIN actions USING (task_id) WHERE ended_at < :before_utc_s LIMIT :limit
);

-- name: surplus_actions
DELETE FROM actions WHERE seq IN (
    SELECT seq FROM actions WHERE seq <= (SELECT max(seq) FROM actions) - :keep_actions ORDER BY seq LIMIT :limit
);

-- name: tasks
-- One that has anything hanging on it goes when that is gone: no delete of one row is to take thousands along.
DELETE FROM tasks WHERE seq IN (
    SELECT seq FROM tasks WHERE ended_at < :before_utc_s
    AND NOT EXISTS (SELECT 1 FROM actions WHERE actions.task_id = tasks.task_id)
    AND NOT EXISTS (SELECT 1 FROM task_messages WHERE task_messages.task_id = tasks.task_id) LIMIT :limit
);
