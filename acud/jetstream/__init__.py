"""The fleet's servers: a connection to NATS, and jobs through JetStream. Only what a fleet uses imports this."""
