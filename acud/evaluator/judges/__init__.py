"""Judges: they answer a criterion from a picture."""
