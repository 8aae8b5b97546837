"""Actions in the supervisor: sent to capture processes in order, one display at a time."""
