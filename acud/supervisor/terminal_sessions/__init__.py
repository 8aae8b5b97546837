"""Terminal sessions of this host: ttys from /proc, tmux's own by asking it."""

from acud.supervisor.terminal_sessions.service import Sessions

__all__ = ["Sessions"]
