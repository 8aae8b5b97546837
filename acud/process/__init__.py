"""The start, heartbeats and end of the supervisor's child processes; the event loop; notices to systemd."""
