-- name: begin
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

-- name: all
SELECT task_id, ids, seen FROM deleted_tasks ORDER BY task_id;

-- name: blank_events
-- The rows stay, so that numbers go on without a gap; who follows a task is still told that it is gone.
UPDATE events SET subject = '', data = '{}' WHERE n > :after AND n <= :upto
AND topic NOT IN ('task.deleted', 'recording.deleted') AND (
    subject IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.task_id') IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.wait_id') IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.run_id') IN (SELECT value FROM json_each(:ids))
    OR json_extract(data, '$.recording_id') IN (SELECT value FROM json_each(:ids))
);

-- name: seen
UPDATE deleted_tasks SET seen = :seen WHERE task_id = :task_id;

-- name: ended_waits
-- One that an undelivered wake tells of stays: whoever is woken asks for its result.
SELECT wait_id FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id AND state <> 'watching'
AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.wait_id = wait_jobs.wait_id
    AND (state IN ('pending', 'reminding') OR next_utc_s > 0)
) LIMIT :limit;

-- name: delete_evaluations
DELETE FROM evaluations WHERE seq IN (
    SELECT seq FROM evaluations WHERE wait_id IN (SELECT value FROM json_each(:waits)) LIMIT :limit
);

-- name: delete_evidence
DELETE FROM evidence WHERE wait_id IN (SELECT value FROM json_each(:waits)) RETURNING name;

-- name: still_named
SELECT DISTINCT name FROM evidence WHERE name IN (SELECT value FROM json_each(:names));

-- name: delete_waits
DELETE FROM wait_jobs WHERE wait_id IN (SELECT value FROM json_each(:waits))
AND NOT EXISTS (SELECT 1 FROM evaluations WHERE evaluations.wait_id = wait_jobs.wait_id);

-- name: delete_wakes
DELETE FROM outbox WHERE wake_id IN (SELECT value FROM json_each(:ids))
AND state NOT IN ('pending', 'reminding') AND next_utc_s <= 0;

-- name: delete_runs
DELETE FROM agent_runs WHERE run_id IN (SELECT value FROM json_each(:ids)) AND state <> 'running'
AND NOT EXISTS (
    SELECT 1 FROM outbox WHERE outbox.run_id = agent_runs.run_id
    AND (state IN ('pending', 'reminding') OR next_utc_s > 0)
);

-- name: delete_done
DELETE FROM deleted_tasks WHERE task_id = :task_id
AND NOT EXISTS (SELECT 1 FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id)
AND NOT EXISTS (SELECT 1 FROM agent_runs WHERE run_id IN (SELECT value FROM json_each(:ids)))
AND NOT EXISTS (SELECT 1 FROM outbox WHERE wake_id IN (SELECT value FROM json_each(:ids)));
