-- Numbers of the scene that are never given again: up to which each kind may have been given.

CREATE TABLE scene_numbers (
    name TEXT PRIMARY KEY,            -- scene, or the letter and display of elements: t3
    reserved INTEGER NOT NULL         -- the first number that was certainly not given yet
) STRICT;
