"""The capture process: one per display. It owns that display's X connection and writes its pixels into frame rings."""
