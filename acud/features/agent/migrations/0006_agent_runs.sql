-- Runs of the agent. Columns that hold JSON say so; the shapes are the structs of acud.types.agent_runs.

CREATE TABLE agent_runs (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    spec TEXT NOT NULL,               -- JSON RunSpec
    display TEXT NOT NULL,
    created_utc_s REAL NOT NULL,
    steps TEXT NOT NULL,              -- JSON list of RunStep
    spent TEXT NOT NULL,              -- JSON RunSpent
    reason TEXT NOT NULL,
    evidence TEXT NOT NULL,
    ended_utc_s REAL NOT NULL         -- 0 while it runs
) STRICT;
CREATE INDEX agent_runs_state ON agent_runs (state, seq);

-- The run that a wake tells of, '' for none.
ALTER TABLE outbox ADD COLUMN run_id TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX outbox_run ON outbox (run_id) WHERE run_id <> '';
