-- What asking a model cost where no evaluation of a stored wait says so.

CREATE TABLE usage (
    seq INTEGER PRIMARY KEY,
    utc_s REAL NOT NULL,
    purpose TEXT NOT NULL,            -- see protocol/requests/usage.py
    judge TEXT NOT NULL,              -- the backend or judge that was asked
    model TEXT NOT NULL,              -- '' where it is not told
    task_id TEXT NOT NULL,            -- '' for no task; rows outlive their task
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_usd REAL                     -- NULL: not known
) STRICT;
CREATE INDEX usage_utc ON usage (utc_s);
