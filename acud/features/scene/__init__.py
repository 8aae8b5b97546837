"""The scene: what is on the displays, as one compact value with stable ids."""
