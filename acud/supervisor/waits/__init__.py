"""The waits of this supervisor: feeds their pure machines with events, obeys their effects and commits their ends."""
