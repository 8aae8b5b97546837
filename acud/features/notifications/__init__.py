"""Notifications to people on the desktop and in browsers: which events, in which words, how often."""
