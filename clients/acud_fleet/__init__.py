"""More than one host: this host's part in a fleet over NATS, and the endpoint that speaks for all of them."""
