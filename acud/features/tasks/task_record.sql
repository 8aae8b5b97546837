-- What the budgets of waits ask of a task, also while the feature is off; the store reads it.

-- name: get
SELECT agent_id, budget FROM tasks WHERE task_id = :task_id;
