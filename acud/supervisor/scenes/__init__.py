"""The scene of every display, and the elements in it by their ids."""
