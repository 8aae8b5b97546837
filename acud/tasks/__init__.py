"""Rules of the task memory: statuses and their moves, who is stuck, what is told of a task. Pure."""
