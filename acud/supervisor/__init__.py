"""The supervisor process: store, timers, children, displays, sockets. It never touches X, pixels or a model."""
