-- name: tasks_insert
INSERT INTO tasks ({Task.columns}) VALUES ({Task.values});

-- name: tasks_update
UPDATE tasks SET {Task.changes} WHERE task_id = :task_id;

-- name: tasks_get
SELECT * FROM tasks WHERE task_id = :task_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM tasks WHERE task_id >= :beginning AND task_id < :beginning || '{' ORDER BY task_id LIMIT 4;

-- name: ending
SELECT * FROM tasks WHERE substr(task_id, -length(:ending)) = :ending ORDER BY task_id LIMIT 4;

-- name: tasks_newest
-- No tasks and no displays: all of them.
SELECT * FROM tasks WHERE status IN (SELECT value FROM json_each(:statuses)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR task_id IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
) ORDER BY seq DESC LIMIT :limit OFFSET :offset;

-- name: tasks_count
SELECT count(*) FROM tasks WHERE status IN (SELECT value FROM json_each(:statuses)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR task_id IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
);

-- name: tasks_all_in
SELECT * FROM tasks WHERE status = :status ORDER BY seq;

-- name: tasks_delete
DELETE FROM tasks WHERE task_id = :task_id;

-- name: tasks_take_items
UPDATE tasks SET last_item = last_item + :count WHERE task_id = :task_id
RETURNING last_item - :count + 1 AS first;

-- name: tasks_insert_item
INSERT INTO plan_items (task_id, {PlanItem.columns}) VALUES (:task_id, {PlanItem.values});

-- name: tasks_update_item
UPDATE plan_items SET {PlanItem.changes} WHERE task_id = :task_id AND number = :number;

-- name: tasks_items
SELECT plan_items.*, count(actions.seq) AS actions, count(actions.seq) FILTER (WHERE actions.status = 'failed')
    AS failed_actions
FROM plan_items LEFT JOIN actions ON actions.task_id = plan_items.task_id AND item = number
WHERE plan_items.task_id = :task_id GROUP BY number ORDER BY number;

-- name: tasks_active_item
SELECT number FROM plan_items WHERE task_id = :task_id AND status = 'active'
ORDER BY started_at DESC, number DESC LIMIT 1;

-- name: tasks_add_message
INSERT INTO task_messages (task_id, {Message.columns}) VALUES (:task_id, {Message.values});

-- name: tasks_messages
SELECT * FROM task_messages WHERE task_id = :task_id ORDER BY seq DESC LIMIT :limit;

-- name: tasks_count_messages
SELECT count(*) FROM task_messages WHERE task_id = :task_id;

-- name: actions_insert
INSERT INTO actions (task_id, {Action.columns}) VALUES (:task_id, {Action.values});

-- name: actions_update
UPDATE actions SET {Action.changes} WHERE action_id = :action_id;

-- name: actions_of_subject
SELECT * FROM actions WHERE subject = :subject ORDER BY seq DESC LIMIT 1;

-- name: actions_newest
SELECT * FROM actions WHERE task_id = :task_id ORDER BY seq DESC LIMIT :limit;

-- name: actions_count
SELECT count(*) FROM actions WHERE task_id = :task_id;

-- name: actions_newest_of_item
SELECT * FROM actions WHERE task_id = :task_id AND item = :item ORDER BY seq DESC LIMIT :limit;

-- name: actions_add_log
INSERT INTO action_logs (action_id, {ActionLog.columns}) VALUES (:action_id, {ActionLog.values});

-- name: actions_logs
SELECT * FROM action_logs WHERE action_id IN (SELECT value FROM json_each(:action_ids)) ORDER BY seq;

-- name: forgetting_begin
WITH
    its_waits AS (SELECT wait_id FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id),
    its_runs AS (SELECT run_id FROM agent_runs WHERE json_extract(spec, '$.task_id') = :task_id)
INSERT INTO deleted_tasks (task_id, ids, seen) SELECT :task_id, json_group_array(id), 0 FROM (
    SELECT :task_id AS id
    UNION SELECT wait_id FROM its_waits
    UNION SELECT run_id FROM its_runs
    UNION SELECT recording_id FROM recordings WHERE task_id = :task_id AND task_id <> ''
    UNION SELECT wake_id FROM outbox
    WHERE task_id = :task_id OR wait_id IN (SELECT wait_id FROM its_waits) OR run_id IN (SELECT run_id FROM its_runs)
);

-- name: forgetting_all
SELECT task_id, ids, seen FROM deleted_tasks ORDER BY task_id;

-- name: forgetting_blank_events
-- The rows stay, so that numbers go on without a gap; who follows a task is still told that it is gone.
UPDATE events SET subject = '', data = '{}' WHERE n > :after AND n <= :upto
AND topic NOT IN ('task.deleted', 'recording.deleted') AND (
    subject IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.task_id') IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.wait_id') IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.run_id') IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.recording_id') IN (SELECT value FROM json_each(:ids))
);

-- name: forgetting_seen
UPDATE deleted_tasks SET seen = :seen WHERE task_id = :task_id;

-- name: forgetting_ended_waits
-- One that an undelivered wake tells of stays: whoever is woken asks for its result.
SELECT wait_id FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id AND state <> 'watching'
AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.wait_id = wait_jobs.wait_id
    AND (state IN ('pending', 'reminding') OR next_utc_s > 0)
) LIMIT :limit;

-- name: forgetting_delete_evaluations
DELETE FROM evaluations WHERE seq IN (
    SELECT seq FROM evaluations WHERE wait_id IN (SELECT value FROM json_each(:waits)) LIMIT :limit
);

-- name: forgetting_delete_evidence
DELETE FROM evidence WHERE wait_id IN (SELECT value FROM json_each(:waits)) RETURNING name;

-- name: forgetting_still_named
SELECT DISTINCT name FROM evidence WHERE name IN (SELECT value FROM json_each(:names));

-- name: forgetting_delete_waits
DELETE FROM wait_jobs WHERE wait_id IN (SELECT value FROM json_each(:waits))
AND NOT EXISTS (SELECT 1 FROM evaluations WHERE evaluations.wait_id = wait_jobs.wait_id);

-- name: forgetting_delete_wakes
DELETE FROM outbox WHERE wake_id IN (SELECT value FROM json_each(:ids))
AND state NOT IN ('pending', 'reminding') AND next_utc_s <= 0;

-- name: forgetting_delete_runs
DELETE FROM agent_runs WHERE run_id IN (SELECT value FROM json_each(:ids)) AND state <> 'running'
AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.run_id = agent_runs.run_id
    AND (state IN ('pending', 'reminding') OR next_utc_s > 0)
);

-- name: forgetting_delete_done
DELETE FROM deleted_tasks WHERE task_id = :task_id
AND NOT EXISTS (SELECT 1 FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id)
AND NOT EXISTS (SELECT 1 FROM agent_runs WHERE run_id IN (SELECT value FROM json_each(:ids)))
AND NOT EXISTS (SELECT 1 FROM outbox WHERE wake_id IN (SELECT value FROM json_each(:ids)));
