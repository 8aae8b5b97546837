"""Notifications to people: which events, in which words, how often, on the desktop and in browsers."""
