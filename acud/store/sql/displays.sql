-- name: insert
INSERT INTO displays (
    name, managed, width, height, depth, auth_file, bus_address, window_manager, processes, state, reason,
    created_utc_s, ended_utc_s, task_id, owner, is_default,
    labels, launched
) VALUES (
    :name, :managed, :width, :height, :depth, :auth_file, :bus_address, :window_manager, :processes, :state, :reason,
    :created_utc_s, :ended_utc_s, :task_id, :owner, :is_default,
    :labels, :launched
) RETURNING number;

-- name: update
UPDATE displays SET
    width = :width, height = :height, depth = :depth, auth_file = :auth_file, bus_address = :bus_address,
    window_manager = :window_manager, processes = :processes, state = :state, reason = :reason,
    ended_utc_s = :ended_utc_s, is_default = :is_default, launched = :launched
WHERE number = :number AND state <> 'ended';

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
