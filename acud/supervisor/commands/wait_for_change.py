"""Answer `wait_for_change`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.asks import PictureAsk
from acud.protocol.requests.looks import Picture
from acud.protocol.requests.waits import ChangeReply, WaitForChange
from acud.supervisor.aiming import Aimed
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.waits import shares
from acud.supervisor.waits.live import Live
from acud.supervisor.waits.shares import Changed
from acud.tasks.nouns import ActionType
from acud.types import Change, WaitSpec
from acud.waits.targets import parse_target
from acud.waits.validation import check_until


class _Blocked:
    """One blocked call: aimed for its baseline, then waiting, then taking its one picture."""

    def __init__(self, app: App, request: WaitForChange, call: Call) -> None:
        self.app = app
        self.request = request
        self.call = call
        self.began_s = app.clock.monotonic_s()
        self.changed = Changed(False, 0.0, None)
        self.detail = ""
        self.place = app.tasks.place(request.task_id, request.target, request.display)
        self.log = app.diary.doing(self.place.task_id, ActionType.WAIT, f"wait for a change of {request.target}")

    def fail(self, fault: AcudError) -> None:
        """Answer with the fault."""
        self.log(fault, None)
        self.call.fail(fault)

    def on_aim(self, outcome: Aimed | AcudError) -> None:
        """The target is there, with a frame of now: arm."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        source = outcome.picture.source
        token = self.request.baseline or self.app.waits.aims.token(source, source.frame, box=outcome.picture.crop)
        until = check_until(Change(self.request.share, self.request.settle_s, token))
        target = parse_target(self.request.target, outcome.screen.name, self.request.ignore)
        spec = WaitSpec(until, target, self.request.timeout_s, task_id=self.place.task_id)
        self.app.waits.passing(spec, outcome.screen, self.call.later(self.on_end))

    def on_end(self, live: Live) -> None:
        """It changed, or the time is over: one picture either way."""
        self.changed = shares.of(live)
        self.detail = live.machine.verdict.detail
        self.app.aiming.fresh(self.request.target, live.display, (), self.call.later(self.on_fresh))

    def on_fresh(self, outcome: Aimed | AcudError) -> None:
        """The frame to show is there."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        ask = PictureAsk(self.request.format, self.request.max_side_px, self.request.quality)
        self.app.looks.take(outcome.picture, ask, self.call.later(self.on_picture))

    def on_picture(self, outcome: Picture | AcudError) -> None:
        """Answer."""
        if isinstance(outcome, AcudError):
            self.fail(outcome)
            return
        self.log(None, {"changed": self.changed.changed, "share": round(self.changed.share, 6)})
        waited_s = self.app.clock.monotonic_s() - self.began_s
        self.call.reply(
            ChangeReply(
                changed=self.changed.changed,
                share=round(self.changed.share, 6),
                box=self.changed.box,
                message=self._message(),
                picture=outcome,
                waited_s=round(waited_s, 3),
            )
        )

    def _message(self) -> str:
        if self.changed.changed:
            return f"Changed: {self.changed.share:.1%} of the target is in changed tiles."
        if not self.changed.share:
            time = f"in {self.request.timeout_s:g} s" if self.request.timeout_s else "so far"
            return f"No change {time}; this is the target as it is now."
        return f"Timeout after {self.request.timeout_s:g} s: {self.detail}; this is the target as it is now."


def handle(app: App, request: WaitForChange, call: Call) -> None:
    """Block until the target changed, or the time is over."""
    check_until(Change(request.share, request.settle_s, request.baseline))
    blocked = _Blocked(app, request, call)
    app.aiming.fresh(request.target, blocked.place.display, request.ignore, call.later(blocked.on_aim))
