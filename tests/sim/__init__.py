"""A fleet of any size on paper: a discrete-event simulation driven by measured figures (`scripts/simulate`)."""
