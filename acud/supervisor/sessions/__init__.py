"""Terminal sessions of this host: ttys from /proc, tmux's own by asking it."""

from acud.supervisor.sessions.service import Sessions

__all__ = ["Sessions"]
