"""What every part may use and that knows no other part: errors, ids, clocks, paths, private files, patterns, log."""
