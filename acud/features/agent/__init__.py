"""Agent runs: plan, ground, act and verify over a display, with limits that count every call."""
