-- name: put
INSERT INTO takeovers (number, lease, who, note, since_utc_s, until)
VALUES (:number, :lease, :who, :note, :since_utc_s, :until)
ON CONFLICT (number) DO UPDATE SET
    lease = :lease, who = :who, note = :note, since_utc_s = :since_utc_s, until = :until;

-- name: all
SELECT * FROM takeovers ORDER BY number;

-- name: of
SELECT * FROM takeovers WHERE number = :number;

-- name: drop
DELETE FROM takeovers WHERE number = :number;
