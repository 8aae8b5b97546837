-- name: insert
INSERT INTO web_passes ({AccessToken.columns}, digest) VALUES ({AccessToken.values}, :digest);

-- name: digest
SELECT * FROM web_passes WHERE digest = :digest;

-- name: beginning
-- Ids are lower-case letters, digits and '-': '{' sorts after all of them.
SELECT * FROM web_passes WHERE pass_id >= :beginning AND pass_id < :beginning || '{' ORDER BY pass_id LIMIT 4;

-- name: ending
SELECT * FROM web_passes WHERE substr(pass_id, -length(:ending)) = :ending ORDER BY pass_id LIMIT 4;

-- name: all
SELECT * FROM web_passes ORDER BY seq DESC;

-- name: used
UPDATE web_passes SET used_utc_s = :used_utc_s WHERE pass_id = :pass_id;

-- name: delete
DELETE FROM web_passes WHERE pass_id = :pass_id;

-- name: expired
DELETE FROM web_passes WHERE expires_utc_s > 0 AND expires_utc_s <= :utc_s;

-- name: insert_code
INSERT INTO web_codes ({LoginCode.columns}) VALUES ({LoginCode.values});

-- name: spend_code
DELETE FROM web_codes WHERE digest = :digest RETURNING *;

-- name: expired_codes
DELETE FROM web_codes WHERE expires_utc_s <= :utc_s;

-- name: delete_codes
DELETE FROM web_codes;
