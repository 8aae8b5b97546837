"""Recordings seen from the supervisor: begun, followed, ended, kept within their limits; the frames are elsewhere."""
