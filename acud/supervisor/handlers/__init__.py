"""The handlers of the requests of `acud.protocol.requests`, in files of the same names; a test pairs them."""

from acud.supervisor.commands import (
    commentary,
    fleet,
    gui,
    looks,
    notifications,
    recordings,
    scenes,
    tasks,
)
from acud.supervisor.commands.registry import HANDLERS
from acud.supervisor.handlers import (
    actions,
    agents,
    daemon,
    displays,
    waits,
    wakes,
    web,
)

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
