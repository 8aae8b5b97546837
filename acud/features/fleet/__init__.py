"""The fleet: many hosts as one, over NATS. Nothing of NATS is imported without `[fleet] url`."""
