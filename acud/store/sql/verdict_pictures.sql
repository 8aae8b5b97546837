-- name: keep
INSERT INTO verdict_pictures (digest, jpeg, size_bytes, utc_s) VALUES (:digest, :jpeg, length(:jpeg), :utc_s)
ON CONFLICT (digest) DO UPDATE SET utc_s = excluded.utc_s;

-- name: get
SELECT jpeg FROM evaluations JOIN verdict_pictures ON digest = picture
WHERE evaluations.wait_id = :wait_id AND evaluations.seq = :number AND picture <> '';

-- name: count
SELECT count(*) FROM evaluations WHERE wait_id = :wait_id AND picture <> '';

-- name: thin
-- Every second one of the older half: what is long ago is seen in ever larger steps.
UPDATE evaluations SET picture = '' WHERE seq IN (
    SELECT seq FROM (
        SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM evaluations
        WHERE wait_id = :wait_id AND picture <> ''
    ) WHERE place <= :older AND place % 2 = 0
);

-- name: over_size
-- Newest first, everything past the point where the sum exceeds the limit.
UPDATE evaluations SET picture = '' WHERE picture <> '' AND picture IN (
    SELECT digest FROM (
        SELECT digest, sum(size_bytes) OVER (ORDER BY utc_s DESC, rowid DESC ROWS UNBOUNDED PRECEDING) AS up_to_here
        FROM verdict_pictures
    ) WHERE up_to_here > :max_bytes ORDER BY up_to_here DESC LIMIT :limit
);
