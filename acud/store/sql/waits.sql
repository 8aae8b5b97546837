-- name: insert
INSERT INTO wait_jobs (
    wait_id, state, spec, display, created, deadline, verdict, judged, judge_calls, frames_seen, cost_usd, note,
    ended_utc_s, message, evidence, changed_to_resolved_ms, baselines, spent, stages
) VALUES (
    :wait_id, :state, :spec, :display, :created, :deadline, :verdict, :judged, :judge_calls, :frames_seen, :cost_usd,
    :note, :ended_utc_s, :message, :evidence, :changed_to_resolved_ms, :baselines, :spent, :stages
);

-- name: update_watching
UPDATE wait_jobs SET
    state = :state, spec = :spec, display = :display, deadline = :deadline, verdict = :verdict, judged = :judged,
    judge_calls = :judge_calls, frames_seen = :frames_seen, cost_usd = :cost_usd, note = :note,
    ended_utc_s = :ended_utc_s, message = :message, evidence = :evidence,
    changed_to_resolved_ms = :changed_to_resolved_ms, baselines = :baselines, spent = :spent, stages = :stages
WHERE wait_id = :wait_id AND state = 'watching';

-- name: spent_of_task
SELECT
    total(json_extract(spent, '$.cost_usd')) AS cost_usd,
    coalesce(sum(json_extract(spent, '$.evaluations')), 0) AS evaluations,
    coalesce(sum(json_extract(spent, '$.unpriced')), 0) AS unpriced
FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id;

-- name: get
SELECT * FROM wait_jobs WHERE wait_id = :wait_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM wait_jobs WHERE wait_id >= :beginning AND wait_id < :beginning || '{' ORDER BY wait_id LIMIT 4;

-- name: ending
SELECT * FROM wait_jobs WHERE substr(wait_id, -length(:ending)) = :ending ORDER BY wait_id LIMIT 4;

-- name: newest
-- No tasks and no displays: whosever they are.
SELECT * FROM wait_jobs WHERE state IN (SELECT value FROM json_each(:states)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR json_extract(spec, '$.task_id') IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
) ORDER BY seq DESC LIMIT :limit;

-- name: count
SELECT count(*) FROM wait_jobs WHERE state IN (SELECT value FROM json_each(:states)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR json_extract(spec, '$.task_id') IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
);

-- name: live
SELECT * FROM wait_jobs WHERE state = 'watching' ORDER BY seq;

-- name: totals
SELECT state, count(*) AS waits, coalesce(sum(judge_calls), 0) AS judge_calls FROM wait_jobs GROUP BY state;

-- name: trim
-- One that has evaluations or evidence left goes when these are gone: no delete of one row is to take thousands along,
-- nor the rows of pictures whose files are still there.
DELETE FROM wait_jobs WHERE seq IN (
    SELECT seq FROM wait_jobs WHERE ended_utc_s > 0 AND ended_utc_s < :before_utc_s AND state <> 'watching'
    AND NOT EXISTS (SELECT 1 FROM evaluations WHERE evaluations.wait_id = wait_jobs.wait_id)
    AND NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.wait_id = wait_jobs.wait_id) LIMIT :limit
);

-- name: of_task
-- The live ones first, then the newest.
SELECT * FROM wait_jobs WHERE json_extract(spec, '$.task_id') = :task_id
ORDER BY state = 'watching' DESC, seq DESC LIMIT :limit;
