"""Displays as they change, for people: changed tiles over WebSocket, whole pictures as MJPEG. See docs/web.md."""
