-- Tasks that were deleted, until all that belonged to them is gone: a step at a time, and after a restart too.
CREATE TABLE deleted_tasks (
    task_id TEXT PRIMARY KEY,
    ids TEXT NOT NULL,                -- JSON list: its own, its waits', wakes', runs' and recordings'
    seen INTEGER NOT NULL             -- the newest event that was looked at
) STRICT, WITHOUT ROWID;
