"""Actions on a display: exact steps, instructions in words, and who may act."""
