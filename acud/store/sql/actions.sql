-- name: insert
INSERT INTO actions (
    action_id, task_id, ordinal, action_type, summary, status, input_data, output_data, duration_ms, judge, cost_usd,
    subject, created_at
) VALUES (
    :action_id, :task_id, :ordinal, :action_type, :summary, :status, :input_data, :output_data, :duration_ms, :judge,
    :cost_usd, :subject, :created_at
);

-- name: update
UPDATE actions SET
    status = :status, output_data = :output_data, duration_ms = :duration_ms, judge = :judge, cost_usd = :cost_usd
WHERE action_id = :action_id;

-- name: of_subject
SELECT * FROM actions WHERE subject = :subject ORDER BY seq DESC LIMIT 1;

-- name: newest
SELECT * FROM actions WHERE task_id = :task_id ORDER BY seq DESC LIMIT :limit;

-- name: count
SELECT count(*) FROM actions WHERE task_id = :task_id;

-- name: newest_of_item
SELECT * FROM actions WHERE task_id = :task_id AND ordinal = :ordinal ORDER BY seq DESC LIMIT :limit;

-- name: add_log
INSERT INTO action_logs (action_id, log_type, content, created_at)
VALUES (:action_id, :log_type, :content, :created_at);

-- name: logs
SELECT * FROM action_logs WHERE action_id IN (SELECT value FROM json_each(:action_ids)) ORDER BY seq;
