-- name: insert
INSERT INTO usage ({UsageEntry.columns}) VALUES ({UsageEntry.values});

-- name: cost_since
SELECT sum(cost_usd) AS cost_usd FROM (
    SELECT cost_usd FROM evaluations WHERE utc_s >= :since_utc_s
    UNION ALL SELECT cost_usd FROM usage WHERE utc_s >= :since_utc_s
);

-- name: rows
SELECT
    date(utc_s, 'unixepoch') AS day, purpose, judge, model, task_id, count(*) AS evaluations,
    sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out, sum(cost_usd) AS cost_usd,
    count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced
FROM (
    SELECT
        utc_s, 'wait' AS purpose, judge, '' AS model, coalesce(json_extract(spec, '$.task_id'), '') AS task_id,
        tokens_in, tokens_out, evaluations.cost_usd AS cost_usd
    FROM evaluations JOIN wait_jobs USING (wait_id)
    WHERE utc_s >= :since_utc_s
    UNION ALL
    SELECT utc_s, purpose, judge, model, task_id, tokens_in, tokens_out, cost_usd
    FROM usage WHERE utc_s >= :since_utc_s
)
WHERE :task_id IN ('', task_id)
GROUP BY 1, 2, 3, 4, 5 ORDER BY day DESC, judge, task_id, purpose, model;

-- name: trim
DELETE FROM usage WHERE seq IN (
    SELECT seq FROM usage WHERE utc_s < :before_utc_s ORDER BY utc_s LIMIT :limit
);
