-- name: insert
INSERT INTO displays ({StoredDisplay.columns}) VALUES ({StoredDisplay.values}) RETURNING number;

-- name: update
UPDATE displays SET {StoredDisplay.changes} WHERE number = :number AND state <> 'ended';

-- name: get
SELECT * FROM displays WHERE number = :number;

-- name: living
SELECT * FROM displays WHERE state <> 'ended' ORDER BY number;

-- name: living_by_name
SELECT * FROM displays WHERE name = :name AND state <> 'ended';

-- name: newest_ended
SELECT * FROM displays WHERE state = 'ended' ORDER BY number DESC LIMIT :limit;

-- name: newest_ended_by_name
SELECT * FROM displays WHERE name = :name AND state = 'ended' ORDER BY number DESC LIMIT 1;

-- name: trim
DELETE FROM displays WHERE number IN (
    SELECT number FROM displays WHERE state = 'ended' AND ended_utc_s < :before_utc_s LIMIT :limit
);
