-- Which display `screen` means: remembered over restarts.
ALTER TABLE displays ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0;
