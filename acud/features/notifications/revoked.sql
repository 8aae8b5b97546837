-- What goes with a pass that is revoked, or with every one of a kind (the other is ''); run by the store.

-- name: push_subscriptions
DELETE FROM push_subscriptions WHERE pass_id = :pass_id OR kind = :kind;
