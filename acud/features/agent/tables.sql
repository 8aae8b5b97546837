-- name: insert
INSERT INTO agent_runs ({RunInfo.columns}) VALUES ({RunInfo.values});

-- name: update
UPDATE agent_runs SET {RunInfo.changes} WHERE run_id = :run_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM agent_runs WHERE run_id >= :beginning AND run_id < :beginning || '{' ORDER BY run_id LIMIT 4;

-- name: ending
SELECT * FROM agent_runs WHERE substr(run_id, -length(:ending)) = :ending ORDER BY run_id LIMIT 4;

-- name: running
SELECT * FROM agent_runs WHERE state = 'running' ORDER BY seq;

-- name: newest
SELECT * FROM agent_runs
WHERE :task_id = '' OR json_extract(spec, '$.task_id') = :task_id
ORDER BY seq DESC LIMIT :limit OFFSET :offset;
