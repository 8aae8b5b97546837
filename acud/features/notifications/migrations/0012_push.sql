-- Browsers that take notifications by Web Push. The endpoint and its keys are the browser's, needed to reach it, and are
-- told to nobody but its push service.

CREATE TABLE push_subscriptions (
    seq INTEGER PRIMARY KEY,
    push_id TEXT NOT NULL UNIQUE,
    pass_id TEXT NOT NULL,            -- whose it is; a session's row outlives the session's time
    kind TEXT NOT NULL,               -- of that pass
    displays TEXT NOT NULL,           -- JSON list of names, as the pass is limited
    tasks TEXT NOT NULL,              -- JSON list of ids
    endpoint TEXT NOT NULL UNIQUE,
    p256dh TEXT NOT NULL,
    auth TEXT NOT NULL,
    created_utc_s REAL NOT NULL,
    expires_utc_s REAL NOT NULL       -- 0: never; of a token its end
) STRICT;
