-- name: add
INSERT INTO sense (type, ts, receivedAt, ocr, meta, roi, diff, observation, source)
VALUES (:type, :ts, :receivedAt, :ocr, :meta, :roi, :diff, :observation, :source) RETURNING id;

-- name: trim
DELETE FROM sense WHERE id <= :newest - :keep;

-- name: above
SELECT * FROM sense WHERE id > :after ORDER BY id;

-- name: above_without_pictures
SELECT id, type, ts, receivedAt, ocr, meta, json_remove(roi, '$.data') AS roi, json_remove(diff, '$.data') AS diff,
    observation, source
FROM sense WHERE id > :after ORDER BY id;

-- name: words
SELECT id, type, ts, receivedAt, ocr, meta, NULL AS roi, NULL AS diff, NULL AS observation, source
FROM sense ORDER BY id;

-- name: count
SELECT count(*) AS found FROM sense;

-- name: newest
SELECT coalesce(max(id), 0) AS found FROM sense;
