"""Rules of a bounded agent over a display: plan, ground, act, verify, with limits that count every call. Pure."""
