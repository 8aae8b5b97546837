-- Recordings. Columns that hold JSON say so; the shapes are the structs of acud.protocol.recordings.

CREATE TABLE recordings (
    seq INTEGER PRIMARY KEY,
    recording_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    display TEXT NOT NULL,
    display_number INTEGER NOT NULL,
    folder TEXT NOT NULL,
    fps REAL NOT NULL,
    crf INTEGER NOT NULL,
    created_utc_s REAL NOT NULL,
    task_id TEXT NOT NULL,
    automatic INTEGER NOT NULL,
    segments TEXT NOT NULL,           -- JSON list of Segment
    frames INTEGER NOT NULL,
    seconds REAL NOT NULL,
    size_bytes INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    reason TEXT NOT NULL,
    ended_utc_s REAL NOT NULL         -- 0 while it is made
) STRICT;
CREATE INDEX recordings_state ON recordings (state, seq);
CREATE INDEX recordings_task ON recordings (task_id, seq) WHERE task_id <> '';
