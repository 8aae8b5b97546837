"""Answer `wait_list`."""

from __future__ import annotations

from acud.protocol.requests.waits import WaitList, WaitListReply
from acud.store import Of
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.types import WaitState


def handle(app: App, request: WaitList, call: Call) -> WaitListReply:
    """Return the waits of the states asked for, newest first."""
    states = request.states or (tuple(WaitState) if request.ended else (WaitState.WATCHING,))
    waits, total = app.waits.newest(states, request.limit, Of(request.tasks, request.displays))
    return WaitListReply(tuple(waits), total)
