"""Finding what a description means on a real screen, method by method."""
