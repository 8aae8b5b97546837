"""The recorder process: writes one display's changed frames to a video with their true times, and a line about each."""
