-- name: insert
INSERT INTO evidence ({StoredEvidence.columns}) VALUES ({StoredEvidence.values});

-- name: get
-- Waits that were resolved by one job share its picture.
SELECT * FROM evidence WHERE name = :name ORDER BY wait_id LIMIT 1;

-- name: all
SELECT * FROM evidence ORDER BY utc_s, name;

-- name: names
SELECT DISTINCT name FROM evidence;

-- name: too_old
-- Of waits that ended: a live wait's evidence stays whatever its age.
SELECT DISTINCT name FROM evidence JOIN wait_jobs USING (wait_id)
WHERE wait_jobs.ended_utc_s > 0 AND wait_jobs.ended_utc_s < :before_utc_s LIMIT :limit;

-- name: over_size
-- Newest first, everything past the point where the sum exceeds the limit.
SELECT name FROM (
    SELECT name, sum(size_bytes) OVER (ORDER BY utc_s DESC, name DESC ROWS UNBOUNDED PRECEDING) AS up_to_here
    FROM (SELECT name, size_bytes, max(utc_s) AS utc_s FROM evidence GROUP BY name, size_bytes)
) WHERE up_to_here > :max_bytes ORDER BY up_to_here DESC LIMIT :limit;

-- name: delete
DELETE FROM evidence WHERE name IN (SELECT value FROM json_each(:names));
