"""The running commentary: its rings, its senses, when it speaks and what it says."""
