-- What a wait spent of its budget and its task's, and the budget of a task: JSON of acud.types.Spent and Budget.

ALTER TABLE wait_jobs ADD COLUMN spent TEXT NOT NULL DEFAULT '{}';
ALTER TABLE tasks ADD COLUMN budget TEXT NOT NULL DEFAULT '{}';
