-- name: recordings_insert
INSERT INTO recordings ({RecordingInfo.columns}) VALUES ({RecordingInfo.values});

-- name: recordings_update
UPDATE recordings SET {RecordingInfo.changes} WHERE recording_id = :recording_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM recordings
WHERE recording_id >= :beginning AND recording_id < :beginning || '{' ORDER BY recording_id LIMIT 4;

-- name: ending
SELECT * FROM recordings WHERE substr(recording_id, -length(:ending)) = :ending ORDER BY recording_id LIMIT 4;

-- name: recordings_unfinished
SELECT * FROM recordings WHERE state = 'recording' ORDER BY seq;

-- name: recordings_newest
-- No tasks and no displays: all of them.
SELECT * FROM recordings WHERE (
    :tasks = '[]' AND :displays = '[]'
    OR task_id IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
) ORDER BY seq DESC LIMIT :limit OFFSET :offset;

-- name: recordings_of_task
SELECT * FROM recordings WHERE task_id = :task_id ORDER BY seq;

-- name: recordings_ids
SELECT recording_id FROM recordings;

-- name: recordings_ended_bytes
SELECT coalesce(sum(size_bytes), 0) AS bytes FROM recordings WHERE state <> 'recording';

-- name: recordings_too_old
SELECT * FROM recordings WHERE state <> 'recording' AND ended_utc_s < :before_utc_s ORDER BY seq;

-- name: recordings_oldest
SELECT * FROM recordings WHERE state <> 'recording' ORDER BY ended_utc_s, seq LIMIT :limit;

-- name: recordings_delete
DELETE FROM recordings WHERE recording_id = :recording_id;

-- What happened on one display, and in one task ('' for none), within a span of time. Of each kind the earliest come first.

-- name: timeline_verdicts
-- The columns of each block are fields of a mark, and what the others are made of.
SELECT CAST(evaluations.utc_s * 1000 AS INTEGER) AS utc_ms, 'verdict' AS kind, wait_id AS id, judge AS title, spec,
    evaluations.verdict AS verdict, COALESCE(epoch, 0) AS epoch, COALESCE(frame, 0) AS frame
FROM evaluations JOIN wait_jobs USING (wait_id)
WHERE utc_s >= :from_s AND utc_s <= :end_s
    AND (wait_jobs.display = :display OR (:task_id <> '' AND json_extract(spec, '$.task_id') = :task_id))
ORDER BY utc_s, evaluations.seq LIMIT :limit;

-- name: timeline_waits_made
SELECT CAST(json_extract(created, '$.utc_s') * 1000 AS INTEGER) AS utc_ms, 'wait' AS kind, wait_id AS id,
    'watching' AS title, spec
FROM wait_jobs
WHERE json_extract(created, '$.utc_s') >= :from_s AND json_extract(created, '$.utc_s') <= :end_s
    AND (display = :display OR (:task_id <> '' AND json_extract(spec, '$.task_id') = :task_id))
ORDER BY json_extract(created, '$.utc_s'), seq LIMIT :limit;

-- name: timeline_waits_ended
SELECT CAST(ended_utc_s * 1000 AS INTEGER) AS utc_ms, 'wait' AS kind, wait_id AS id, state AS title, spec, verdict
FROM wait_jobs
WHERE ended_utc_s >= :from_s AND ended_utc_s <= :end_s
    AND (display = :display OR (:task_id <> '' AND json_extract(spec, '$.task_id') = :task_id))
ORDER BY ended_utc_s, seq LIMIT :limit;

-- name: timeline_wait_spans
-- The newest that ran at any moment of the span.
SELECT wait_id, spec, state, CAST(json_extract(created, '$.utc_s') * 1000 AS INTEGER) AS from_ms,
    CAST(ended_utc_s * 1000 AS INTEGER) AS until_ms, verdict
FROM wait_jobs
WHERE json_extract(created, '$.utc_s') <= :end_s AND (ended_utc_s = 0 OR ended_utc_s >= :from_s)
    AND (display = :display OR (:task_id <> '' AND json_extract(spec, '$.task_id') = :task_id))
ORDER BY seq DESC LIMIT :limit;

-- name: timeline_actions
-- An action is written down when it has ended; what it did to the screen came of its beginning.
SELECT CAST((actions.created_at - COALESCE(duration_ms, 0) / 1000) * 1000 AS INTEGER) AS utc_ms, 'action' AS kind,
    action_id AS id, action_type || ', ' || actions.status AS title, summary AS text, COALESCE(input_data, '{}') AS input_data,
    COALESCE(output_data, '{}') AS output_data
FROM actions JOIN tasks USING (task_id)
WHERE actions.created_at - COALESCE(duration_ms, 0) / 1000 BETWEEN :from_s AND :end_s
    AND (task_id = :task_id OR tasks.display_number = :number)
ORDER BY utc_ms, actions.seq LIMIT :limit;

-- name: timeline_messages
SELECT CAST(task_messages.created_at * 1000 AS INTEGER) AS utc_ms, 'message' AS kind, task_id AS id,
    role || ', ' || msg_type AS title, content AS text
FROM task_messages JOIN tasks USING (task_id)
WHERE task_messages.created_at >= :from_s AND task_messages.created_at <= :end_s
    AND (task_id = :task_id OR tasks.display_number = :number)
ORDER BY task_messages.created_at, task_messages.seq LIMIT :limit;

-- name: timeline_tasks_made
SELECT CAST(created_at * 1000 AS INTEGER) AS utc_ms, 'task' AS kind, task_id AS id, 'registered' AS title, name AS text
FROM tasks
WHERE created_at >= :from_s AND created_at <= :end_s AND (task_id = :task_id OR display_number = :number)
ORDER BY created_at LIMIT :limit;

-- name: timeline_tasks_ended
SELECT CAST(ended_at * 1000 AS INTEGER) AS utc_ms, 'task' AS kind, task_id AS id, status AS title, name AS text
FROM tasks
WHERE ended_at >= :from_s AND ended_at <= :end_s AND (task_id = :task_id OR display_number = :number)
ORDER BY ended_at LIMIT :limit;
