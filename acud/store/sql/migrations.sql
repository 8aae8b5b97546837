-- name: create
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_utc_s REAL NOT NULL
) STRICT;

-- name: applied
SELECT number, name FROM migrations ORDER BY number;

-- name: record
INSERT INTO migrations (number, name, applied_utc_s) VALUES (:number, :name, :applied_utc_s);

-- name: user_tables
SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\';
