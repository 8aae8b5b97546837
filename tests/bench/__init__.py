"""Benchmarks, run by `scripts/bench`; never part of the timed tests."""
