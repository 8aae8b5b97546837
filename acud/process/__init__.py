"""How a child process of the supervisor starts, sends heartbeats and ends; the event loop; notices to systemd."""
