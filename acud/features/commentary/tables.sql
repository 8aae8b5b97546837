-- name: feed_add
INSERT INTO feed ({FeedItem.columns}) VALUES ({FeedItem.values}) RETURNING id;

-- name: feed_trim
DELETE FROM feed WHERE id <= :newest - :keep;

-- name: feed_above
SELECT * FROM feed WHERE id > :after ORDER BY id;

-- name: feed_count
SELECT count(*) AS found FROM feed;

-- name: feed_newest_of_others
SELECT coalesce(max(id), 0) AS found FROM feed WHERE source <> :source;

-- name: sense_add
INSERT INTO sense ({SenseEvent.columns}) VALUES ({SenseEvent.values}) RETURNING id;

-- name: sense_trim
DELETE FROM sense WHERE id <= :newest - :keep;

-- name: sense_above
SELECT * FROM sense WHERE id > :after ORDER BY id;

-- name: sense_above_without_pictures
SELECT id, type, ts, receivedAt, ocr, meta, json_remove(roi, '$.data') AS roi, json_remove(diff, '$.data') AS diff,
    observation, source
FROM sense WHERE id > :after ORDER BY id;

-- name: sense_words
SELECT id, type, ts, receivedAt, ocr, meta, NULL AS roi, NULL AS diff, NULL AS observation, source
FROM sense ORDER BY id;

-- name: sense_count
SELECT count(*) AS found FROM sense;

-- name: sense_newest
SELECT coalesce(max(id), 0) AS found FROM sense;

-- name: analyses_add
INSERT INTO analyses ({AnalysisResult.columns}, {AnalysisInputs.columns})
VALUES ({AnalysisResult.values}, {AnalysisInputs.values}) RETURNING id;

-- name: analyses_trim
DELETE FROM analyses WHERE id <= :newest - :keep;

-- name: analyses_newest
SELECT * FROM analyses ORDER BY id DESC LIMIT :limit;

-- name: analyses_last_pushed
SELECT analysis FROM analyses WHERE pushed = 1 ORDER BY id DESC LIMIT 1;

-- name: analyses_answered
SELECT coalesce(max(heard), 0) AS heard, coalesce(max(seen), 0) AS seen FROM analyses;
