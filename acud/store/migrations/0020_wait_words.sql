-- What a search for waits looks at: lower case, a space before each word. Those of before are searched in what is stored.

ALTER TABLE wait_jobs ADD COLUMN words TEXT NOT NULL DEFAULT '';
UPDATE wait_jobs SET words = ' ' || lower(replace(replace(replace(replace(
    spec || ' ' || display || ' ' || verdict || ' ' || wait_id, '"', ' '), ':', ' '), ',', ' '), '-', ' '));
