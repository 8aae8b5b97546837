-- What budgets and searches of waits ask of tasks, also while the feature is off; the store reads it.

-- name: get
SELECT agent_id, budget FROM tasks WHERE task_id = :task_id;

-- name: names
SELECT task_id, name FROM tasks;
