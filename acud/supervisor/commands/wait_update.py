"""Answer `wait_update`."""

from __future__ import annotations

from msgspec.structs import replace

from acud.errors import AcudError
from acud.protocol.requests.waits import WaitReply, WaitUpdate
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.types import Until
from acud.waits import baselines
from acud.waits.conditions import is_from_now


def handle(app: App, request: WaitUpdate, call: Call) -> WaitReply | None:
    """Change a live wait. The reply waits for the grab that a new change is measured from, as in `wait_create`."""

    def updated(until: Until | None) -> WaitReply:
        info, notes = app.waits.update(replace(request, until=until))
        return WaitReply(info, tuple(notes), app.wakes.routes_of(info.spec.wake))

    def on_aim(outcome: Aimed | AcudError) -> None:
        until = request.until
        if until is not None and not isinstance(outcome, AcudError):
            source = outcome.picture.source
            until = baselines.with_token(until, app.waits.aims.token(source, source.frame, box=outcome.picture.crop))
        call.reply(updated(until))

    if request.until is None or not is_from_now(request.until):
        return updated(request.until)
    app.aiming.at(app.waits.target(request.wait_id), call.later(on_aim))
    return None
