"""Soak and chaos: a real daemon under a seeded plan of work and faults, and an oracle that judges it from outside."""
