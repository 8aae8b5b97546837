-- Displays that a person has taken over. A row goes with its lease: given back, run out, or its display ended.

CREATE TABLE takeovers (
    number INTEGER PRIMARY KEY,       -- the display's, never given again
    lease TEXT NOT NULL UNIQUE,
    who TEXT NOT NULL,
    note TEXT NOT NULL,
    since_utc_s REAL NOT NULL,
    until TEXT NOT NULL               -- JSON Instant: UTC, CLOCK_BOOTTIME, boot id
) STRICT;
