-- Who is let in over HTTP. Of secrets only SHA-256 digests are kept. Columns that hold JSON say so; the shape of a pass
-- is the struct acud.protocol.web.Pass.

CREATE TABLE web_passes (
    seq INTEGER PRIMARY KEY,
    pass_id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    displays TEXT NOT NULL,           -- JSON list of names
    tasks TEXT NOT NULL,              -- JSON list of ids
    created_utc_s REAL NOT NULL,
    expires_utc_s REAL NOT NULL,      -- 0: never
    used_utc_s REAL NOT NULL
) STRICT;

CREATE TABLE web_codes (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    displays TEXT NOT NULL,           -- JSON list of names
    tasks TEXT NOT NULL,              -- JSON list of ids
    expires_utc_s REAL NOT NULL
) STRICT, WITHOUT ROWID;
