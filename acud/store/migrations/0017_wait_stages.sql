-- The stages of a sequence that a wait has reached: JSON list of acud.types.waits.Stage.
ALTER TABLE wait_jobs ADD COLUMN stages TEXT NOT NULL DEFAULT '[]';
