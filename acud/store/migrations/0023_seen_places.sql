-- Where a wait saw texts, pictures and widgets last: JSON of acud.waits.model.Places.
ALTER TABLE wait_jobs ADD COLUMN places TEXT NOT NULL DEFAULT '[]';
