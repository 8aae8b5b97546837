-- name: insert
INSERT INTO recordings (
    recording_id, state, display, display_number, folder, fps, crf, created_utc_s, task_id, automatic, segments, frames,
    seconds, size_bytes, dropped, gone, reason, ended_utc_s
) VALUES (
    :recording_id, :state, :display, :display_number, :folder, :fps, :crf, :created_utc_s, :task_id, :automatic,
    :segments, :frames, :seconds, :size_bytes, :dropped, :gone, :reason, :ended_utc_s
);

-- name: update
UPDATE recordings SET
    state = :state, segments = :segments, frames = :frames, seconds = :seconds, size_bytes = :size_bytes,
    dropped = :dropped, gone = :gone, reason = :reason, ended_utc_s = :ended_utc_s
WHERE recording_id = :recording_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM recordings
WHERE recording_id >= :beginning AND recording_id < :beginning || '{' ORDER BY recording_id LIMIT 4;

-- name: unfinished
SELECT * FROM recordings WHERE state = 'recording' ORDER BY seq;

-- name: newest
-- No tasks and no displays: all of them.
SELECT * FROM recordings WHERE (
    :tasks = '[]' AND :displays = '[]'
    OR task_id IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
) ORDER BY seq DESC LIMIT :limit;

-- name: of_task
SELECT * FROM recordings WHERE task_id = :task_id ORDER BY seq;

-- name: ids
SELECT recording_id FROM recordings;

-- name: ended_bytes
SELECT coalesce(sum(size_bytes), 0) AS bytes FROM recordings WHERE state <> 'recording';

-- name: too_old
SELECT * FROM recordings WHERE state <> 'recording' AND ended_utc_s < :before_utc_s ORDER BY seq;

-- name: oldest
SELECT * FROM recordings WHERE state <> 'recording' ORDER BY ended_utc_s, seq LIMIT :limit;

-- name: delete
DELETE FROM recordings WHERE recording_id = :recording_id;
