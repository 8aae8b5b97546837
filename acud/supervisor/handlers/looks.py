"""Answers requests for pictures of displays."""

from __future__ import annotations

from acud.base.errors import AcudError
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.looks import Baseline, BaselineReply, LiveWatch, LiveWatched, Look, Picture
from acud.supervisor.app import App
from acud.supervisor.control import Call, handles
from acud.types import Target
from acud.types.tasks import ActionType
from acud.waits.targets import parse_target

_TRIES = 3  # A window that is covered, uncovered or resized between finding it and its picture is searched again


@handles(Look)
async def look(app: App, request: Look, call: Call) -> Picture | None:
    """Take a picture from a grab made after this call."""
    place = app.ports.tasks.find_place(request.task_id, request.target, request.display)
    log = app.ports.tasks.begin_action(place.task_id, ActionType.VISION, f"look at {request.target}")
    ask = PictureAsk(request.format, request.max_side_px, request.quality, request.redacted)
    try:
        picture = await _take_picture(app, parse_target(request.target, place.display), ask)
    except AcudError as fault:
        log(fault, None)
        call.fail(fault)
        return None
    log(None, {"display": picture.display, "frame": picture.frame})
    return picture


async def _take_picture(app: App, target: Target, ask: PictureAsk) -> Picture:
    tries = 0
    while True:
        tries += 1
        fresh = await app.fresh_frames.find(target)
        try:
            return await app.screenshots.take(fresh.picture, ask)
        except AcudError as fault:
            if "lost" not in fault.facts or tries >= _TRIES:
                raise


@handles(LiveWatch)
def live_watch(app: App, request: LiveWatch, call: Call) -> LiveWatched:
    """Begin, prolong or end a watch."""
    watched = app.watched_displays.get(request.display)
    watch = app.live_watches.watch(watched, request.fps, request.for_s, request.watch)
    task_id = next((task_id for owned, task_id in app.displays.find_owned() if owned is watched), "")
    return app.live_watches.locate_frames(watched, watch, task_id)


@handles(Baseline)
async def answer_baseline(app: App, request: Baseline, call: Call) -> BaselineReply:
    """Return a token for a grab made after this call."""
    display = app.ports.tasks.find_place(request.task_id, request.target, request.display).display
    fresh = await app.fresh_frames.find(parse_target(request.target, display))
    return BaselineReply(await app.screenshots.take_baseline(fresh.picture), fresh.picture.source.display)
