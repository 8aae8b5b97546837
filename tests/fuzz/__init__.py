"""Every decoder of what comes from outside, fed bytes that nobody meant for it: docs/fuzzing.md."""
