-- name: insert
INSERT INTO evaluations (
    wait_id, utc_s, epoch, frame, verdict, judge, source, latency_ms, identity, tokens_in, tokens_out, cost_usd
) VALUES (
    :wait_id, :utc_s, :epoch, :frame, :verdict, :judge, :source, :latency_ms, :identity, :tokens_in, :tokens_out,
    :cost_usd
);

-- name: newest
SELECT * FROM evaluations WHERE wait_id = :wait_id ORDER BY seq DESC LIMIT :limit;

-- name: cost_since
SELECT sum(cost_usd) FROM evaluations WHERE utc_s >= :since_utc_s;

-- name: trim
DELETE FROM evaluations WHERE utc_s < :before_utc_s;

-- name: usage
SELECT
    date(utc_s, 'unixepoch') AS day, judge, coalesce(json_extract(spec, '$.task_id'), '') AS task_id,
    count(*) AS evaluations, sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out,
    sum(evaluations.cost_usd) AS cost_usd, count(*) FILTER (WHERE evaluations.cost_usd IS NULL) AS unpriced
FROM evaluations JOIN wait_jobs USING (wait_id)
WHERE utc_s >= :since_utc_s AND :task_id IN ('', json_extract(spec, '$.task_id'))
GROUP BY 1, 2, 3 ORDER BY day DESC, judge, task_id;
