-- name: insert
INSERT INTO evidence (name, wait_id, identity, size_bytes, utc_s)
VALUES (:name, :wait_id, :identity, :size_bytes, :utc_s);

-- name: get
SELECT * FROM evidence WHERE name = :name;

-- name: all
SELECT * FROM evidence ORDER BY utc_s, name;

-- name: names
SELECT name FROM evidence;

-- name: total_bytes
SELECT coalesce(sum(size_bytes), 0) FROM evidence;

-- name: too_old
-- Of waits that ended: a live wait's evidence stays whatever its age.
SELECT name FROM evidence JOIN wait_jobs USING (wait_id)
WHERE wait_jobs.ended_utc_s > 0 AND wait_jobs.ended_utc_s < :before_utc_s;

-- name: over_size
-- Newest first, everything past the point where the sum exceeds the limit.
SELECT name FROM (
    SELECT name, sum(size_bytes) OVER (ORDER BY utc_s DESC, name DESC ROWS UNBOUNDED PRECEDING) AS up_to_here
    FROM evidence
) WHERE up_to_here > :max_bytes;

-- name: delete
DELETE FROM evidence WHERE name IN (SELECT value FROM json_each(:names));
