-- name: reserve
INSERT INTO scene_numbers (name, reserved) VALUES (:name, :reserved)
ON CONFLICT (name) DO UPDATE SET reserved = max(reserved, :reserved);

-- name: reserved
SELECT reserved FROM scene_numbers WHERE name = :name;

-- name: forget
DELETE FROM scene_numbers WHERE name = :name;
