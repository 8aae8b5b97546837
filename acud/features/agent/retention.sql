-- What the store deletes at each step of its retention, also while the feature is off.

-- name: agent_runs
DELETE FROM agent_runs WHERE seq IN (
    SELECT seq FROM agent_runs WHERE state <> 'running' AND ended_utc_s < :before_utc_s LIMIT :limit
);
