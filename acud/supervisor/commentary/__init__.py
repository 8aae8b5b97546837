"""The running commentary: its rings, its senses, and the loop of `acud.analysis` obeyed."""
