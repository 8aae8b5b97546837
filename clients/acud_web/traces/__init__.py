"""Traces: the spans of waits, made from the daemon's events and sent by OTLP over HTTP (`[otel]`)."""
