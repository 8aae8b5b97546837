-- name: free
PRAGMA freelist_count;

-- name: mode
PRAGMA auto_vacuum;

-- name: give_back
-- So many pages at most: a pragma takes no bound values.
PRAGMA incremental_vacuum(200);
