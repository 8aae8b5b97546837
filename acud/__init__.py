"""acud: the agentic computer use daemon. It watches X11 displays for agents and wakes them once, with evidence."""

__version__ = "0.2.0"
