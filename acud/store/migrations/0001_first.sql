-- Waits, their evaluations and evidence; events; request replies; displays.
-- Columns that hold JSON say so; the shapes are the structs of the same names in acud.store and acud.types.

CREATE TABLE wait_jobs (
    seq INTEGER PRIMARY KEY,          -- order of making: "newest first" must not depend on the wall clock
    wait_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    spec TEXT NOT NULL,               -- JSON WaitSpec
    display TEXT NOT NULL,
    created TEXT NOT NULL,            -- JSON Instant: UTC, CLOCK_BOOTTIME, boot id
    deadline TEXT NOT NULL,           -- JSON Instant
    verdict TEXT NOT NULL,            -- JSON Verdict
    judged INTEGER NOT NULL,
    judge_calls INTEGER NOT NULL,
    frames_seen INTEGER NOT NULL,
    cost_usd REAL,
    note TEXT NOT NULL,
    ended_utc_s REAL NOT NULL,        -- 0 while watching
    message TEXT NOT NULL,
    evidence TEXT,                    -- JSON Evidence
    changed_to_resolved_ms REAL,
    baselines TEXT NOT NULL           -- JSON {leaf index: Kept}
) STRICT;
CREATE INDEX wait_jobs_state ON wait_jobs (state, seq);
CREATE INDEX wait_jobs_ended ON wait_jobs (ended_utc_s) WHERE ended_utc_s > 0;

CREATE TABLE evaluations (
    seq INTEGER PRIMARY KEY,
    wait_id TEXT NOT NULL REFERENCES wait_jobs (wait_id) ON DELETE CASCADE,
    utc_s REAL NOT NULL,
    epoch INTEGER NOT NULL,
    frame INTEGER NOT NULL,
    verdict TEXT NOT NULL,            -- JSON Verdict
    judge TEXT NOT NULL,
    source TEXT NOT NULL,
    latency_ms REAL NOT NULL,
    identity TEXT NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_usd REAL
) STRICT;
CREATE INDEX evaluations_wait ON evaluations (wait_id, seq);
CREATE INDEX evaluations_utc ON evaluations (utc_s);

-- AUTOINCREMENT: a number is never given twice, also after retention emptied the table (sqlite.org/autoinc.html).
CREATE TABLE events (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    prev INTEGER NOT NULL,
    topic TEXT NOT NULL,
    utc_s REAL NOT NULL,
    subject TEXT NOT NULL,
    data TEXT NOT NULL                -- JSON object
) STRICT;
CREATE INDEX events_topic ON events (topic, n);

CREATE TABLE requests (
    request_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    utc_s REAL NOT NULL,
    reply BLOB                        -- NULL: started, and no end recorded
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_utc ON requests (utc_s);

CREATE TABLE displays (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    managed INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    auth_file TEXT NOT NULL,
    bus_address TEXT NOT NULL,
    window_manager TEXT NOT NULL,
    processes TEXT NOT NULL,          -- JSON list of StoredProcess
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_utc_s REAL NOT NULL,
    ended_utc_s REAL NOT NULL         -- 0 while it lives
) STRICT;
-- X gives `:100` away again; only one living display can have the name.
CREATE UNIQUE INDEX displays_living_name ON displays (name) WHERE state <> 'ended';

CREATE TABLE evidence (
    name TEXT NOT NULL,
    wait_id TEXT NOT NULL REFERENCES wait_jobs (wait_id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    utc_s REAL NOT NULL,
    PRIMARY KEY (name, wait_id)       -- waits that one job resolved share its picture
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_utc ON evidence (utc_s);
CREATE INDEX evidence_wait ON evidence (wait_id);
