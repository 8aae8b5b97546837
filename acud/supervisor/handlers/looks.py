"""Answers requests for pictures of displays."""

from __future__ import annotations

from acud.base.errors import AcudError
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.looks import Baseline, BaselineReply, LiveWatch, LiveWatched, Look, Picture
from acud.supervisor.app import App
from acud.supervisor.control import Call, handles
from acud.supervisor.fresh_frames import FreshTarget
from acud.types.tasks import ActionType

_TRIES = 3
"""A window that is covered, uncovered or resized between finding it and its picture is searched again."""


class _LookCall:
    """One call on its way."""

    def __init__(self, app: App, request: Look, call: Call) -> None:
        self.app = app
        self.target = request.target
        self.call = call
        self.place = app.ports.tasks.place(request.task_id, request.target, request.display)
        self.log = app.ports.tasks.begin_action(self.place.task_id, ActionType.VISION, f"look at {request.target}")
        self.ask = PictureAsk(request.format, request.max_side_px, request.quality, request.redacted)
        self.tries = 0

    def resolve(self) -> None:
        """Find the target, with a frame grabbed from now on."""
        self.tries += 1
        self.app.fresh_frames.resolve(self.target, self.place.display, (), self.call.later(self.on_target))

    def on_target(self, outcome: FreshTarget | AcudError) -> None:
        """Take the picture of the target that was found."""
        if isinstance(outcome, AcudError):
            self.on_picture(outcome)
        else:
            self.app.screenshots.take(outcome.picture, self.ask, self.call.later(self.on_picture))

    def on_picture(self, outcome: Picture | AcudError) -> None:
        """Answer, or search the target again when its pixels were lost meanwhile."""
        if isinstance(outcome, AcudError) and "lost" in outcome.facts and self.tries < _TRIES:
            self.resolve()
        elif isinstance(outcome, AcudError):
            self.log(outcome, None)
            self.call.fail(outcome)
        else:
            self.log(None, {"display": outcome.display, "frame": outcome.frame})
            self.call.reply(outcome)


@handles(Look)
def look(app: App, request: Look, call: Call) -> None:
    """Take a picture from a grab made after this call."""
    _LookCall(app, request, call).resolve()


@handles(LiveWatch)
def live_watch(app: App, request: LiveWatch, call: Call) -> LiveWatched:
    """Begin, prolong or end a watch."""
    watched = app.watched_displays.get(request.display)
    watch = app.live_watches.watch(watched, request.fps, request.for_s, request.watch)
    task_id = next((task_id for owned, task_id in app.displays.find_owned() if owned is watched), "")
    return app.live_watches.locate_frames(watched, watch, task_id)


@handles(Baseline)
def answer_baseline(app: App, request: Baseline, call: Call) -> None:
    """Return a token for a grab made after this call."""

    def on_target(fresh: FreshTarget) -> None:
        display = fresh.picture.source.display
        app.screenshots.take_baseline(
            fresh.picture, call.later(lambda token: call.reply(BaselineReply(token, display)))
        )

    display = app.ports.tasks.place(request.task_id, request.target, request.display).display
    app.fresh_frames.resolve(request.target, display, (), call.then(on_target))
