-- Wakes: written in the transaction of what they tell of, kept until an agent saw it and for `keep_days` after.

CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY,
    wake_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    wait_id TEXT NOT NULL,            -- '' when it tells of no wait
    task_id TEXT NOT NULL,
    address TEXT NOT NULL,            -- JSON WakeAddress
    routes TEXT NOT NULL,             -- JSON list of RouteTry
    state TEXT NOT NULL,
    created_utc_s REAL NOT NULL,
    begun_utc_s REAL NOT NULL,
    next_utc_s REAL NOT NULL,         -- 0: nothing happens by itself
    attempts INTEGER NOT NULL,
    sent_utc_s REAL NOT NULL,
    sent_by TEXT NOT NULL,
    seen_utc_s REAL NOT NULL,
    reminders INTEGER NOT NULL,
    reason TEXT NOT NULL,
    flight INTEGER NOT NULL
) STRICT;
-- A wait ends once, and wakes once.
CREATE UNIQUE INDEX outbox_wait ON outbox (wait_id) WHERE wait_id <> '';
CREATE INDEX outbox_state ON outbox (state, seq);
CREATE INDEX outbox_next ON outbox (next_utc_s) WHERE next_utc_s > 0;
CREATE INDEX outbox_created ON outbox (created_utc_s);
