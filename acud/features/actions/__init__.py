"""Actions on a display: exact steps, instructions in words, and permission to act."""
