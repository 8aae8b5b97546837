"""Rules: which events a person is notified of, in which words, and how often. Pure."""
