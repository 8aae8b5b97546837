-- The task memory. Columns that hold JSON say so; the shapes are the structs of the same names in acud.types.tasks.

CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    metadata TEXT NOT NULL,           -- JSON object
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL,
    display TEXT NOT NULL,
    display_number INTEGER NOT NULL,  -- of displays, 0 for none; no foreign key: the row may be trimmed first
    stuck_at REAL,
    next_ordinal INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_status ON tasks (status, seq);

CREATE TABLE plan_items (
    task_id TEXT NOT NULL REFERENCES tasks (task_id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,         -- given by tasks.next_ordinal, so never twice
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at REAL,
    completed_at REAL,
    duration_seconds REAL,
    PRIMARY KEY (task_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE actions (
    seq INTEGER PRIMARY KEY,
    action_id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (task_id) ON DELETE CASCADE,
    ordinal INTEGER,                  -- NULL: for the task as a whole
    action_type TEXT NOT NULL,
    summary TEXT NOT NULL,
    status TEXT NOT NULL,
    input_data TEXT,                  -- JSON
    output_data TEXT,                 -- JSON
    duration_ms REAL,
    judge TEXT NOT NULL,
    cost_usd REAL,
    subject TEXT NOT NULL,
    created_at REAL NOT NULL,
    FOREIGN KEY (task_id, ordinal) REFERENCES plan_items (task_id, ordinal) ON DELETE CASCADE
) STRICT;
CREATE INDEX actions_task ON actions (task_id, ordinal, seq);
CREATE INDEX actions_subject ON actions (subject) WHERE subject <> '';

CREATE TABLE action_logs (
    seq INTEGER PRIMARY KEY,
    action_id TEXT NOT NULL REFERENCES actions (action_id) ON DELETE CASCADE,
    log_type TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at REAL NOT NULL
) STRICT;
CREATE INDEX action_logs_action ON action_logs (action_id, seq);

CREATE TABLE task_messages (
    seq INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (task_id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    msg_type TEXT NOT NULL,
    created_at REAL NOT NULL
) STRICT;
CREATE INDEX task_messages_task ON task_messages (task_id, seq);

CREATE INDEX wait_jobs_task ON wait_jobs (json_extract(spec, '$.task_id'), seq);

-- Whose display it is: one whose task ended, or never came to be, is ended at the next start.
ALTER TABLE displays ADD COLUMN task_id TEXT NOT NULL DEFAULT '';
