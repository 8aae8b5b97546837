"""Answer `wait_create`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.requests.wait_create import WaitCreate, WaitReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.screens import Screen
from acud.waits.request import parse_target, validate


def handle(app: App, request: WaitCreate, call: Call) -> None:
    """Arm a wait; the reply is deferred only while `screen` has no display yet and one is being started."""
    spec = validate(
        request.until,
        parse_target(request.target, request.display, request.ignore),
        timeout_s=request.timeout_s,
        default_timeout_s=app.settings.wait.timeout_s,
        max_timeout_s=app.settings.wait.max_timeout_s,
        policy=request.policy,
        judge=request.judge,
        task_id=request.task_id,
        label=request.label,
    )

    def on_display(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
            return
        info, notes = app.waits.create(spec, outcome)
        call.reply(WaitReply(info, tuple(notes)))

    app.hosting.with_display(spec.target.display, call.later(on_display))
