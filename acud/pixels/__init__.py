"""Pixels: tiles, gates, hashes, identity. numpy only, no I/O."""
