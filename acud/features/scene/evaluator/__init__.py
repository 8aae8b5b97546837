"""What an evaluator reads of a display for its scene: text and widgets, each through a chain of providers."""
