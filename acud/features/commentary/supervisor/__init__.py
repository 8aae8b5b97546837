"""The commentary in the supervisor: events of displays, the loop, and questions to a model."""
