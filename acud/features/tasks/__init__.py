"""Tasks: an agent's work over many turns and restarts: plan, log, stuck detection. See README.md."""
