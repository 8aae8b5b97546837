"""Redaction: what must not leave the machine, found in text and among the lines and windows of a screen."""
