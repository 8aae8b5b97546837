-- name: insert
INSERT OR REPLACE INTO push_subscriptions (
    push_id, pass_id, kind, displays, tasks, endpoint, p256dh, auth, created_utc_s, expires_utc_s
) VALUES (
    :push_id, :pass_id, :kind, :displays, :tasks, :endpoint, :p256dh, :auth, :created_utc_s, :expires_utc_s
);

-- name: good
SELECT * FROM push_subscriptions WHERE expires_utc_s = 0 OR expires_utc_s > :utc_s ORDER BY seq;

-- name: delete
DELETE FROM push_subscriptions WHERE push_id = :push_id;
