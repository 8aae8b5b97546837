"""The daemon's side of its clients' sockets: ZMTP 3.0 on Unix sockets, every client held to bounds of its own."""
