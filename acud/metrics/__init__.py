"""Metrics: what is counted, counters and histograms in plain Python, and when a frame is stale. Pure."""
