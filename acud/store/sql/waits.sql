-- name: insert
INSERT INTO wait_jobs ({StoredWait.columns}, words) VALUES ({StoredWait.values}, :words);

-- name: update_watching
UPDATE wait_jobs SET {StoredWait.changes}, words = :words WHERE wait_id = :wait_id AND state = 'watching';

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

-- name: matching
-- No tasks and no displays: whosever they are. Of each wanted word, `tasks` are those whose names hold it.
SELECT seq FROM wait_jobs WHERE state IN (SELECT value FROM json_each(:states)) AND (
    :tasks = '[]' AND :displays = '[]'
    OR json_extract(spec, '$.task_id') IN (SELECT value FROM json_each(:tasks)) OR display IN (SELECT value FROM json_each(:displays))
)
AND (:display = '' OR display = :display)
AND (:task_id = '' OR json_extract(spec, '$.task_id') = :task_id)
AND (:judge = '' OR json_extract(spec, '$.judge') = :judge)
AND (:since_utc_s = 0 OR iif(ended_utc_s > 0, ended_utc_s, json_extract(created, '$.utc_s')) >= :since_utc_s)
AND (:words = '[]' OR NOT EXISTS (
    SELECT 1 FROM json_each(:words) AS wanted WHERE instr(words, ' ' || json_extract(wanted.value, '$.word')) = 0
    AND json_extract(spec, '$.task_id') NOT IN (SELECT value FROM json_each(wanted.value, '$.tasks'))
))
ORDER BY seq DESC;

-- name: newest
SELECT * FROM wait_jobs WHERE seq IN (SELECT value FROM json_each(:page)) ORDER BY seq DESC;

-- name: facets
SELECT
    json_group_array(DISTINCT display) AS displays,
    json_group_array(DISTINCT json_extract(spec, '$.task_id')) AS tasks,
    json_group_array(DISTINCT json_extract(spec, '$.judge')) AS judges
FROM wait_jobs WHERE state IN (SELECT value FROM json_each(:states)) AND (
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
