-- name: add
INSERT INTO feed (text, priority, ts, source) VALUES (:text, :priority, :ts, :source) RETURNING id;

-- name: trim
DELETE FROM feed WHERE id <= :newest - :keep;

-- name: above
SELECT * FROM feed WHERE id > :after ORDER BY id;

-- name: count
SELECT count(*) AS found FROM feed;

-- name: newest_of_others
SELECT coalesce(max(id), 0) AS found FROM feed WHERE source <> :source;
