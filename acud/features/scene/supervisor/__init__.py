"""Scenes of displays: read when a client asks, or as displays change while a client subscribes."""
