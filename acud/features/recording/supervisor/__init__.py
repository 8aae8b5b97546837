"""Recordings in the supervisor: started, followed, ended, kept within their limits; the frames are elsewhere."""
