-- What it takes to make a display again on another host: what that must carry, and what was launched, as JSON
-- (acud.store.displays.StoredDisplay).
ALTER TABLE displays ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
ALTER TABLE displays ADD COLUMN launched TEXT NOT NULL DEFAULT '[]';
-- That a wait was armed again on this host, as its own was lost: JSON of acud.types.waits.Rearmed.
ALTER TABLE wait_jobs ADD COLUMN rearmed TEXT;
