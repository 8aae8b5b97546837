"""Answer `wait_create`."""

from __future__ import annotations

from msgspec.structs import replace

from acud.errors import AcudError, DisplayDown
from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.screens import Screen
from acud.types import DisplayState, OnDisplayLost, Until
from acud.waits import baselines
from acud.waits.conditions import is_from_now
from acud.waits.targets import parse_target
from acud.waits.validation import validate


def handle(app: App, request: WaitCreate, call: Call) -> None:
    """Arm a wait. The reply is deferred while the default display starts, and for the grab that a change is measured
    from: whatever its caller does after the reply is seen. A target that is not there yet is measured when it comes.
    """
    app.wakes.check(request.wake)
    place = app.tasks.place(request.task_id, request.target, request.display)
    spec = validate(
        request.until,
        parse_target(request.target, place.display, request.ignore),
        timeout_s=request.timeout_s,
        default_timeout_s=app.settings.wait.timeout_s,
        max_timeout_s=app.settings.wait.max_timeout_s,
        policy=request.policy,
        judge=request.judge,
        task_id=place.task_id,
        label=request.label,
        wake=request.wake,
        budget=request.budget,
    )

    app.waits.check_judged(spec.until, spec.judge, force=request.force)

    def arm(until: Until, screen: Screen) -> None:
        if screen.state is DisplayState.ENDED and spec.policy.on_display_lost is OnDisplayLost.FAIL:
            raise DisplayDown(
                f"display {screen.name} has ended: {screen.reason}", hint="acud display create; or name another display"
            )
        if spec.task_id:
            app.tasks.live(spec.task_id)  # it may have ended since the call came
        info, notes = app.waits.create(replace(spec, until=until), screen)
        call.reply(WaitReply(info, tuple(notes), app.wakes.routes_of(request.wake)))

    def on_display(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
            return
        screen = outcome

        def on_session(fault: AcudError | None) -> None:
            if fault is not None:
                call.fail(fault)
            elif screen.state is DisplayState.UP:
                # So that its caller hears of an empty display, and of several windows that fit.
                app.listings.when_known(screen, call.later(lambda _: arm(spec.until, screen)))
            else:
                arm(spec.until, screen)

        app.aiming.session(spec.target, screen, call.later(on_session))

    def on_aim(outcome: Aimed | AcudError) -> None:
        if isinstance(outcome, AcudError):
            app.hosting.with_display(spec.target.display, call.later(on_display))
        else:
            source = outcome.picture.source
            arm(
                baselines.with_token(spec.until, app.waits.aims.token(source, source.frame, box=outcome.picture.crop)),
                outcome.screen,
            )

    if is_from_now(spec.until):
        app.aiming.fresh(request.target, place.display, request.ignore, call.later(on_aim))
    else:
        app.hosting.with_display(spec.target.display, call.later(on_display))
