-- name: reserve
INSERT INTO scene_numbers (name, reserved) VALUES (:name, :reserved)
ON CONFLICT (name) DO UPDATE SET reserved = max(reserved, :reserved);

-- name: reserved
SELECT reserved FROM scene_numbers WHERE name = :name;

-- name: forget
DELETE FROM scene_numbers WHERE name = :name;

-- name: keep_elements
INSERT INTO scene_elements (name, elements) VALUES (:name, :elements)
ON CONFLICT (name) DO UPDATE SET elements = :elements;

-- name: elements
SELECT elements FROM scene_elements WHERE name = :name;

-- name: forget_elements
DELETE FROM scene_elements WHERE name = :name;
