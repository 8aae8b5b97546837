-- The elements of each display that stood last, so that they keep their ids over a restart.

CREATE TABLE scene_elements (
    name TEXT PRIMARY KEY,            -- the letter and display of the elements: t3
    elements BLOB NOT NULL            -- MessagePack: a salt; of each its number, digest of its words, box, kind, key
) STRICT;
