"""A condition, a judge and a policy over a recording: what a wait would have reported, and when."""
