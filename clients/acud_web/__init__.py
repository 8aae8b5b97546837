"""The HTTP listener: a client of the daemon's control socket that serves /feed, /sense, /health and /agent/*."""
