"""The running commentary: its rings, its senses, its schedule and its words."""
