-- name: get
SELECT digest, reply FROM requests WHERE request_id = :request_id;

-- name: start
INSERT INTO requests (request_id, digest, utc_s, reply) VALUES (:request_id, :digest, :utc_s, NULL);

-- name: answer
INSERT INTO requests (request_id, digest, utc_s, reply) VALUES (:request_id, :digest, :utc_s, :reply)
ON CONFLICT (request_id) DO UPDATE SET reply = excluded.reply, utc_s = excluded.utc_s
WHERE requests.digest = excluded.digest AND requests.reply IS NULL;

-- name: withdraw
DELETE FROM requests WHERE request_id = :request_id AND reply IS NULL;

-- name: trim
DELETE FROM requests WHERE request_id IN (
    SELECT request_id FROM requests WHERE utc_s < :before_utc_s ORDER BY utc_s LIMIT :limit
);
