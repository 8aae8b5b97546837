-- name: insert
INSERT INTO evaluations (wait_id, {Evaluation.columns}) VALUES (:wait_id, {Evaluation.values});

-- name: newest
SELECT *, seq AS number FROM evaluations WHERE wait_id = :wait_id AND (:before = 0 OR seq < :before)
ORDER BY seq DESC LIMIT :limit;

-- name: count
SELECT count(*) FROM evaluations WHERE wait_id = :wait_id;

-- name: trim
DELETE FROM evaluations WHERE seq IN (
    SELECT seq FROM evaluations WHERE utc_s < :before_utc_s ORDER BY utc_s LIMIT :limit
);

-- name: trim_surplus
DELETE FROM evaluations WHERE seq IN (
    SELECT seq FROM evaluations WHERE seq <= (SELECT max(seq) FROM evaluations) - :keep ORDER BY seq LIMIT :limit
);

-- name: trim_of_old_waits
DELETE FROM evaluations WHERE seq IN (
    SELECT evaluations.seq FROM wait_jobs JOIN evaluations USING (wait_id)
    WHERE ended_utc_s > 0 AND ended_utc_s < :before_utc_s AND state <> 'watching' LIMIT :limit
);
