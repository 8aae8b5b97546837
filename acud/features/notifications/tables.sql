-- name: insert
INSERT OR REPLACE INTO push_subscriptions ({Subscription.columns}) VALUES ({Subscription.values});

-- name: good
SELECT * FROM push_subscriptions WHERE expires_utc_s = 0 OR expires_utc_s > :utc_s ORDER BY seq;

-- name: delete
DELETE FROM push_subscriptions WHERE push_id = :push_id;
