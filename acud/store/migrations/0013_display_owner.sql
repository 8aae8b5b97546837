-- Who may serve an adopted display besides the daemon's own user and root: a uid, or -1.
ALTER TABLE displays ADD COLUMN owner INTEGER NOT NULL DEFAULT -1;
