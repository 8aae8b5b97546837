-- name: insert
INSERT INTO evaluations (
    wait_id, utc_s, epoch, frame, verdict, judge, source, latency_ms, identity, tokens_in, tokens_out, cost_usd
) VALUES (
    :wait_id, :utc_s, :epoch, :frame, :verdict, :judge, :source, :latency_ms, :identity, :tokens_in, :tokens_out,
    :cost_usd
);

-- name: newest
SELECT * FROM evaluations WHERE wait_id = :wait_id ORDER BY seq DESC LIMIT :limit;

-- name: trim
DELETE FROM evaluations WHERE utc_s < :before_utc_s;
