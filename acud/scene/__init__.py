"""Rules and nouns of the scene: what is on the displays, as one compact value with stable ids. Pure."""
