-- What is recorded of a display: '' for all of it, or a window by its id.
ALTER TABLE recordings ADD COLUMN target TEXT NOT NULL DEFAULT '';
