"""Answer `wake_retry`."""

from __future__ import annotations

from acud.errors import InvalidRequest
from acud.protocol.requests.wakes import WakeRetry, WakeRetryReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.types import WakeState

_MOST = 1000


def handle(app: App, request: WakeRetry, call: Call) -> WakeRetryReply:
    """Begin a new round over the routes of each wake."""
    if request.undelivered == bool(request.wake_ids):
        raise InvalidRequest("name the wakes to try again, or say undelivered", hint="acud wake list shows them")
    if request.undelivered:
        found = app.store.outbox.newest((WakeState.UNDELIVERED,), _MOST).wakes
    else:
        found = tuple(map(app.store.outbox.find, request.wake_ids))
    return WakeRetryReply(tuple(map(app.wakes.retry, found)))
