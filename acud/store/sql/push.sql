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

-- name: of_pass
DELETE FROM push_subscriptions WHERE pass_id = :pass_id;

-- name: of_kind
DELETE FROM push_subscriptions WHERE kind = :kind;

-- name: expired
DELETE FROM push_subscriptions WHERE expires_utc_s > 0 AND expires_utc_s <= :utc_s;
