-- name: put
INSERT INTO takeovers ({Takeover.columns}) VALUES ({Takeover.values})
ON CONFLICT (number) DO UPDATE SET {Takeover.changes};

-- name: all
SELECT * FROM takeovers ORDER BY number;

-- name: of
SELECT * FROM takeovers WHERE number = :number;

-- name: drop
DELETE FROM takeovers WHERE number = :number;
