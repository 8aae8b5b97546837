"""Terminal sessions of this host: ttys from /proc, sessions of tmux servers, and those that acud opens."""

from acud.supervisor.terminal_sessions.own_terminals import OwnTerminals
from acud.supervisor.terminal_sessions.service import Sessions

__all__ = ["OwnTerminals", "Sessions"]
