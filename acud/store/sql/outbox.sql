-- name: insert
INSERT INTO outbox ({WakeInfo.columns}) VALUES ({WakeInfo.values});

-- name: update
UPDATE outbox SET {WakeInfo.changes} WHERE wake_id = :wake_id;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM outbox WHERE wake_id >= :beginning AND wake_id < :beginning || '{' ORDER BY wake_id LIMIT 4;

-- name: ending
SELECT * FROM outbox WHERE substr(wake_id, -length(:ending)) = :ending ORDER BY wake_id LIMIT 4;

-- name: of_wait
SELECT * FROM outbox WHERE wait_id = :wait_id AND wait_id <> '';

-- name: of_run
SELECT * FROM outbox WHERE run_id = :run_id AND run_id <> '';

-- name: open
SELECT * FROM outbox WHERE state IN ('pending', 'reminding') OR next_utc_s > 0 ORDER BY seq;

-- name: newest
SELECT * FROM outbox
WHERE state IN (SELECT value FROM json_each(:states)) AND (:wait_id = '' OR wait_id = :wait_id)
ORDER BY seq DESC LIMIT :limit OFFSET :offset;

-- name: counts
SELECT state, count(*) AS found FROM outbox WHERE :wait_id = '' OR wait_id = :wait_id GROUP BY state;

-- name: trim
DELETE FROM outbox WHERE seq IN (
    SELECT seq FROM outbox WHERE created_utc_s < :before_utc_s AND state NOT IN ('pending', 'reminding') LIMIT :limit
);
