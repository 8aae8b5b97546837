"""Text of a display: found, read, kept between frames, and searched."""
