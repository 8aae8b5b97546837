-- What the store deletes at each step of its retention, also while the feature is off.

-- name: push_subscriptions
DELETE FROM push_subscriptions WHERE expires_utc_s > 0 AND expires_utc_s <= :now_utc_s;
