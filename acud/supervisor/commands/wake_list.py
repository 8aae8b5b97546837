"""Answer `wake_list`."""

from __future__ import annotations

from acud.protocol.requests.wakes import WakeList, WakeListReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.types import WakeState

_UNSEEN = tuple(state for state in WakeState if state is not WakeState.SEEN)


def handle(app: App, request: WakeList, call: Call) -> WakeListReply:
    """Return the wakes asked for, newest first."""
    states = request.states or (tuple(WakeState) if request.seen else _UNSEEN)
    page = app.store.outbox.newest(states, request.limit, request.wait_id)
    failing = {name.value: reason for name, reason in app.relay.failing().items()}
    return WakeListReply(tuple(map(app.wakes.known, page.wakes)), page.total, app.settings.wake.routes, failing)
