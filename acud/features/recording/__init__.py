"""Recordings: the frames of a display as video with their true times, kept within limits, and replayed over a wait."""
