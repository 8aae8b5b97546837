-- The pictures that waits look for, as PNG: once each, whoever looks for it. `used_utc_s`: when a wait last asked for it.

CREATE TABLE wait_images (
    digest TEXT PRIMARY KEY,
    png BLOB NOT NULL,
    used_utc_s REAL NOT NULL
) STRICT;
