"""Answer `wait_result`."""

from __future__ import annotations

from acud.protocol.requests.waits import WaitResult, WaitResultReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.types import WaitInfo


def handle(app: App, request: WaitResult, call: Call) -> None:
    """Answer when the wait has ended, or after `block_s` with its state so far; an end that was told is seen."""

    def done(info: WaitInfo, ended: bool) -> None:
        reply = WaitResultReply(info, ended, app.evidence_path(info))
        call.reply(reply, (lambda: app.wakes.seen(info.wait_id)) if ended and not request.peek else None)

    app.waits.when_ended(request.wait_id, request.block_s, done, fetches=not request.peek)
