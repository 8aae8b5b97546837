"""Rules and nouns of the running commentary: what was heard and seen, the context window, when to speak. Pure."""
