-- name: add
INSERT INTO analyses (
    ts, analysis, context, pushed, model, latencyMs, tokensIn, tokensOut, cost_usd, heard, seen
) VALUES (
    :ts, :analysis, :context, :pushed, :model, :latencyMs, :tokensIn, :tokensOut, :cost_usd, :heard, :seen
) RETURNING id;

-- name: trim
DELETE FROM analyses WHERE id <= :newest - :keep;

-- name: newest
SELECT * FROM analyses ORDER BY id DESC LIMIT :limit;

-- name: last_pushed
SELECT analysis FROM analyses WHERE pushed = 1 ORDER BY id DESC LIMIT 1;

-- name: answered
SELECT coalesce(max(heard), 0) AS heard, coalesce(max(seen), 0) AS seen FROM analyses;
