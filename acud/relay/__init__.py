"""The relay process: brings wakes to agents, one attempt at a time, and tells how each ended. It decides nothing."""
