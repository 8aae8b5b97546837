-- name: insert
INSERT INTO tasks (
    task_id, name, status, agent_id, metadata, created_at, updated_at, ended_at, display, display_number, stuck_at,
    budget
) VALUES (
    :task_id, :name, :status, :agent_id, :metadata, :created_at, :updated_at, :ended_at, :display, :display_number,
    :stuck_at, :budget
);

-- name: update
UPDATE tasks SET
    status = :status, updated_at = :updated_at, ended_at = :ended_at, stuck_at = :stuck_at,
    budget = :budget
WHERE task_id = :task_id;

-- name: get
SELECT * FROM tasks WHERE task_id = :task_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM tasks WHERE task_id >= :beginning AND task_id < :beginning || '{' ORDER BY task_id LIMIT 4;

-- name: newest
-- No tasks and no displays: all of them.
SELECT * FROM tasks WHERE status IN (SELECT value FROM json_each(:statuses)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR task_id IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
) ORDER BY seq DESC LIMIT :limit;

-- name: count
SELECT count(*) FROM tasks WHERE status IN (SELECT value FROM json_each(:statuses)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR task_id IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
);

-- name: all_in
SELECT * FROM tasks WHERE status = :status ORDER BY seq;

-- name: delete
DELETE FROM tasks WHERE task_id = :task_id;

-- name: trim
-- One that has anything hanging on it goes when that is gone: no delete of one row is to take thousands along.
DELETE FROM tasks WHERE seq IN (
    SELECT seq FROM tasks WHERE ended_at < :before_utc_s
    AND NOT EXISTS (SELECT 1 FROM actions WHERE actions.task_id = tasks.task_id)
    AND NOT EXISTS (SELECT 1 FROM task_messages WHERE task_messages.task_id = tasks.task_id) LIMIT :limit
);

-- name: trim_messages
DELETE FROM task_messages WHERE seq IN (
    SELECT task_messages.seq FROM tasks JOIN task_messages USING (task_id) WHERE ended_at < :before_utc_s LIMIT :limit
);

-- name: trim_logs
DELETE FROM action_logs WHERE seq IN (
    SELECT action_logs.seq FROM tasks JOIN actions USING (task_id) JOIN action_logs USING (action_id)
    WHERE ended_at < :before_utc_s LIMIT :limit
);

-- name: trim_actions
DELETE FROM actions WHERE seq IN (
    SELECT actions.seq FROM tasks JOIN actions USING (task_id) WHERE ended_at < :before_utc_s LIMIT :limit
);

-- name: trim_surplus
DELETE FROM actions WHERE seq IN (
    SELECT seq FROM actions WHERE seq <= (SELECT max(seq) FROM actions) - :keep ORDER BY seq LIMIT :limit
);

-- name: take_ordinals
UPDATE tasks SET next_ordinal = next_ordinal + :count WHERE task_id = :task_id RETURNING next_ordinal - :count AS first;

-- name: insert_item
INSERT INTO plan_items (task_id, ordinal, title, status, started_at, completed_at, duration_seconds)
VALUES (:task_id, :ordinal, :title, :status, :started_at, :completed_at, :duration_seconds);

-- name: update_item
UPDATE plan_items SET
    status = :status, started_at = :started_at, completed_at = :completed_at, duration_seconds = :duration_seconds
WHERE task_id = :task_id AND ordinal = :ordinal;

-- name: items
SELECT plan_items.*, count(actions.seq) AS actions, count(actions.seq) FILTER (WHERE actions.status = 'failed')
    AS failed_actions
FROM plan_items LEFT JOIN actions USING (task_id, ordinal)
WHERE task_id = :task_id GROUP BY task_id, ordinal ORDER BY ordinal;

-- name: active_ordinal
SELECT ordinal FROM plan_items WHERE task_id = :task_id AND status = 'active'
ORDER BY started_at DESC, ordinal DESC LIMIT 1;

-- name: add_message
INSERT INTO task_messages (task_id, role, content, msg_type, created_at)
VALUES (:task_id, :role, :content, :msg_type, :created_at);

-- name: messages
SELECT * FROM task_messages WHERE task_id = :task_id ORDER BY seq DESC LIMIT :limit;

-- name: count_messages
SELECT count(*) FROM task_messages WHERE task_id = :task_id;
