"""Answers requests that list, add, create, remove or take over displays."""

from __future__ import annotations

from acud.base.errors import Conflict
from acud.config.fleet import check_host_labels, not_the_endpoint
from acud.protocol.requests.displays import (
    DisplayAdd,
    DisplayCreate,
    DisplayList,
    DisplayListReply,
    DisplayRelease,
    DisplayRemove,
    DisplayReply,
    DisplayTake,
    NotificationAnswer,
    NotificationReply,
    TakeReply,
)
from acud.supervisor.app import App
from acud.supervisor.control import Call, handles
from acud.supervisor.coroutines import Callback


@handles(DisplayList)
def display_list(app: App, request: DisplayList, call: Call) -> DisplayListReply:
    ended = app.displays.find_ended() if request.ended else []
    is_set = bool(app.settings.display.default)
    return DisplayListReply((*app.displays.infos(), *ended), app.displays.default, is_set)


@handles(DisplayAdd)
async def display_add(app: App, request: DisplayAdd, call: Call) -> DisplayReply:
    """Adopt the display; the reply waits for its first ring, or fails with the reason."""
    if "/" in request.name:
        raise not_the_endpoint()
    return DisplayReply(app.displays.info(await app.displays.adopt(request.name, request.auth_file, request.owner)))


@handles(DisplayCreate)
async def display_create(app: App, request: DisplayCreate, call: Call) -> DisplayReply:
    """Start a managed display; the reply waits until it is watched."""
    check_host_labels(app.settings.fleet, request.labels)
    width = request.width or app.settings.display.width
    height = request.height or app.settings.display.height
    manager = request.window_manager or app.settings.display.window_manager
    watched = await app.displays.create(width, height, manager, labels=request.labels)
    return DisplayReply(app.displays.info(watched), app.displays.list_notes(watched))


_FAIL = "they fail; those armed with on_display_lost = wait go on"
_GO_ON = "they go on, and are unknown until a display of that name is back"


@handles(DisplayRemove)
async def display_remove(app: App, request: DisplayRemove, call: Call) -> DisplayReply:
    """End or forget a display; the reply waits until a managed one is gone."""
    watched = app.watched_displays.get(request.name)
    looking = app.waits.list_on_display(watched.name)
    if looking and not request.force:
        raise Conflict(
            f"{len(looking)} live waits look at {watched.name}: {', '.join(looking[:3])}",
            hint=f"cancel them, or use --force ({_FAIL if watched.managed else _GO_ON})",
        )
    await Callback[None](lambda resume: app.displays.remove(watched, lambda: resume(None)))
    return DisplayReply(app.displays.info(watched))


@handles(DisplayTake)
async def display_take(app: App, request: DisplayTake, call: Call) -> TakeReply:
    """Take the display over; the reply leaves when that is stored."""
    watched = await app.displays.find_display(request.display)
    taken = app.takeovers.take(watched, request.who, request.for_s, request.note, request.lease)
    return TakeReply(taken.lease, taken.until.utc_s, app.displays.info_with_takeover(watched, taken))


@handles(DisplayRelease)
def display_release(app: App, request: DisplayRelease, call: Call) -> DisplayReply:
    watched = app.watched_displays.get(request.display)
    app.takeovers.release(watched, request.lease, force=request.force, note=request.note.strip())
    return DisplayReply(app.displays.info_with_takeover(watched, None))


@handles(NotificationAnswer)
def notification_answer(app: App, request: NotificationAnswer, call: Call) -> NotificationReply:
    """Choose an action of a notification, or close it."""
    watched = app.watched_displays.get(request.name)
    app.takeovers.check(watched, "")
    return NotificationReply(app.notifications.answer(watched, request.notification_id, request.action))
