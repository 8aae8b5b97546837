-- Plan items count from 1, as people do. Numbers turn negative first: a step of 1 would meet the next row's.

PRAGMA defer_foreign_keys = ON;

ALTER TABLE tasks RENAME COLUMN next_ordinal TO last_item; -- the last number given: the next one, counted from 0
ALTER TABLE plan_items RENAME COLUMN ordinal TO number;
ALTER TABLE actions RENAME COLUMN ordinal TO item;

UPDATE plan_items SET number = -number - 1;
UPDATE plan_items SET number = -number;
UPDATE actions SET item = item + 1 WHERE item IS NOT NULL;

UPDATE events SET data = json_remove(json_set(data, '$.item', json_extract(data, '$.ordinal') + 1), '$.ordinal')
WHERE topic = 'task.updated' AND json_extract(data, '$.ordinal') IS NOT NULL;
UPDATE events SET data = json_set(data, '$.first', json_extract(data, '$.first') + 1)
WHERE topic = 'task.updated' AND json_extract(data, '$.appended') IS NOT NULL;
