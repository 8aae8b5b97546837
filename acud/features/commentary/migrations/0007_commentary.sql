-- The commentary's rings: what was heard, what was seen, what was said. The shapes are acud.types.commentary.
-- AUTOINCREMENT: clients ask for what is above the number they know, so a number is never given twice.

CREATE TABLE feed (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL,
    priority TEXT NOT NULL,
    ts INTEGER NOT NULL,              -- milliseconds since the epoch
    source TEXT NOT NULL
) STRICT;

CREATE TABLE sense (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,               -- JSON string
    ts INTEGER NOT NULL,
    receivedAt INTEGER NOT NULL,
    ocr TEXT NOT NULL,
    meta TEXT NOT NULL,               -- JSON SenseMeta
    roi TEXT,                         -- JSON object; so are the next two
    diff TEXT,
    observation TEXT,
    source TEXT NOT NULL
) STRICT;

CREATE TABLE analyses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ts INTEGER NOT NULL,
    analysis TEXT NOT NULL,
    context TEXT NOT NULL,            -- JSON AnalysisContext
    pushed INTEGER NOT NULL,
    model TEXT NOT NULL,
    latencyMs INTEGER NOT NULL,
    tokensIn INTEGER,
    tokensOut INTEGER,
    cost_usd REAL,
    heard INTEGER NOT NULL,           -- the newest number of feed, and of sense, that it answers for
    seen INTEGER NOT NULL
) STRICT;
