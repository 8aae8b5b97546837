"""The rules of waits: what a condition means, when a view is judged, and how a wait ends. Pure: no I/O, no clock."""
