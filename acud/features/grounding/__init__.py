"""Grounding: the place on a screen that a description means."""
