-- name: append
INSERT INTO events (prev, topic, utc_s, subject, data) VALUES (:prev, :topic, :utc_s, :subject, :data);

-- name: newest_of_topic
SELECT coalesce(max(n), 0) FROM events WHERE topic = :topic;

-- name: since
SELECT * FROM events
WHERE n > :after AND substr(topic, 1, length(:beginning)) = :beginning
ORDER BY n LIMIT :limit;

-- name: newest
SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events';

-- name: oldest
SELECT coalesce(min(n), 0) FROM events;

-- name: trim
DELETE FROM events WHERE n IN (
    SELECT n FROM events WHERE n <= (SELECT max(n) FROM events) - :keep ORDER BY n LIMIT :limit
);
