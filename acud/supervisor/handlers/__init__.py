"""The handlers of the requests of `acud.protocol.requests`, in files of the same names; a test pairs them."""

from acud.supervisor.handlers import (
    actions,
    agents,
    commentary,
    daemon,
    displays,
    fleet,
    gui,
    looks,
    notifications,
    recordings,
    scenes,
    tasks,
    waits,
    wakes,
    web,
)
from acud.supervisor.handlers.registry import HANDLERS

__all__ = [
    "HANDLERS",
    "actions",
    "agents",
    "commentary",
    "daemon",
    "displays",
    "fleet",
    "gui",
    "looks",
    "notifications",
    "recordings",
    "scenes",
    "tasks",
    "waits",
    "wakes",
    "web",
]
