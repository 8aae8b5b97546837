"""Every request that clients can make, by noun; each file ends with the commands that it declares."""

from __future__ import annotations

from msgspec import Struct

from acud.protocol.requests import (
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
    terminals,
    waits,
    wakes,
    web,
)
from acud.protocol.requests.command import Command, name_of

REQUESTS: tuple[Command, ...] = (
    *daemon.COMMANDS,
    *displays.COMMANDS,
    *looks.COMMANDS,
    *scenes.COMMANDS,
    *actions.COMMANDS,
    *terminals.COMMANDS,
    *gui.COMMANDS,
    *waits.COMMANDS,
    *wakes.COMMANDS,
    *notifications.COMMANDS,
    *tasks.COMMANDS,
    *agents.COMMANDS,
    *recordings.COMMANDS,
    *commentary.COMMANDS,
    *web.COMMANDS,
    *fleet.COMMANDS,
)

BY_NAME: dict[str, Command] = {command.name: command for command in REQUESTS}


def find_command(request: type[Struct]) -> Command:
    return BY_NAME[name_of(request)]


__all__ = ["BY_NAME", "REQUESTS", "Command", "find_command"]
