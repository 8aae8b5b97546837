"""Judges: who answers a criterion from a picture."""
