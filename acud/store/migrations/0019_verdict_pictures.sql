-- Small pictures of what was judged. Evaluations of the same pixels share one, also those of several waits.

CREATE TABLE verdict_pictures (
    digest TEXT PRIMARY KEY,
    jpeg BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    utc_s REAL NOT NULL
) STRICT;
CREATE INDEX verdict_pictures_utc ON verdict_pictures (utc_s, size_bytes);

ALTER TABLE evaluations ADD COLUMN picture TEXT NOT NULL DEFAULT '';  -- its digest
ALTER TABLE evaluations ADD COLUMN width INTEGER NOT NULL DEFAULT 0;
ALTER TABLE evaluations ADD COLUMN height INTEGER NOT NULL DEFAULT 0;
CREATE INDEX evaluations_picture ON evaluations (picture) WHERE picture <> '';
CREATE INDEX evaluations_pictured ON evaluations (wait_id, seq) WHERE picture <> '';

-- A picture goes with the last evaluation that names it, whatever deletes that.
CREATE TRIGGER verdict_picture_deleted AFTER DELETE ON evaluations WHEN old.picture <> '' BEGIN
    DELETE FROM verdict_pictures WHERE digest = old.picture
    AND NOT EXISTS (SELECT 1 FROM evaluations WHERE picture = old.picture AND picture <> '');
END;
CREATE TRIGGER verdict_picture_dropped AFTER UPDATE OF picture ON evaluations WHEN old.picture <> '' BEGIN
    DELETE FROM verdict_pictures WHERE digest = old.picture
    AND NOT EXISTS (SELECT 1 FROM evaluations WHERE picture = old.picture AND picture <> '');
END;
