-- name: keep
INSERT INTO wait_images (digest, png, used_utc_s) VALUES (:digest, :png, :utc_s)
ON CONFLICT (digest) DO UPDATE SET used_utc_s = excluded.used_utc_s;

-- name: get
SELECT png FROM wait_images WHERE digest = :digest;

-- name: trim
-- One that a live wait looks for stays whatever its age.
DELETE FROM wait_images WHERE digest IN (
    SELECT digest FROM wait_images WHERE used_utc_s < :before_utc_s AND NOT EXISTS (
        SELECT 1 FROM wait_jobs WHERE state = 'watching' AND instr(wait_jobs.spec, wait_images.digest)
    ) LIMIT :limit
);
