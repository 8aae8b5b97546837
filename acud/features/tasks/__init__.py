"""Tasks: what an agent works on, over many turns and restarts: plan, log, stuck detection. See README.md."""
