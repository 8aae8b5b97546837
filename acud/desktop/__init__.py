"""Rules and nouns of acting on a display: actions, coordinates, instructions, what was found."""
