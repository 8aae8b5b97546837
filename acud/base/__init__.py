"""What every part may use and that uses no other part: errors, ids, clocks, paths, private files, patterns, log."""
