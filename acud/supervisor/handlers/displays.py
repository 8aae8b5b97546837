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
from acud.supervisor.watched_displays import WatchedDisplay


@handles(DisplayList)
def display_list(app: App, request: DisplayList, call: Call) -> DisplayListReply:
    """Return the displays, with ended ones if requested."""
    ended = app.displays.find_ended() if request.ended else []
    is_set = bool(app.settings.display.default)
    return DisplayListReply((*app.displays.infos(), *ended), app.displays.default, is_set)


@handles(DisplayAdd)
def display_add(app: App, request: DisplayAdd, call: Call) -> None:
    """Adopt the display; the reply waits for its first ring, or fails with the reason."""
    if "/" in request.name:
        raise not_the_endpoint()

    def on_added(watched: WatchedDisplay) -> None:
        call.reply(DisplayReply(app.displays.info(watched)))

    app.displays.add(request.name, request.auth_file, call.then(on_added), request.owner)


@handles(DisplayCreate)
def display_create(app: App, request: DisplayCreate, call: Call) -> None:
    """Start a managed display; the reply waits until it is watched."""
    check_host_labels(app.settings.fleet, request.labels)
    width = request.width or app.settings.display.width
    height = request.height or app.settings.display.height

    def on_created(watched: WatchedDisplay) -> None:
        call.reply(DisplayReply(app.displays.info(watched), app.displays.list_notes(watched)))

    manager = request.window_manager or app.settings.display.window_manager
    app.displays.create(width, height, manager, call.then(on_created), labels=request.labels)


_FAIL = "they fail; those armed with on_display_lost = wait go on"
_GO_ON = "they go on, and are unknown until a display of that name is back"


@handles(DisplayRemove)
def display_remove(app: App, request: DisplayRemove, call: Call) -> None:
    """End or forget a display; the reply waits until a managed one is gone."""
    watched = app.watched_displays.get(request.name)
    looking = app.waits.list_on_display(watched.name)
    if looking and not request.force:
        raise Conflict(
            f"{len(looking)} live waits look at {watched.name}: {', '.join(looking[:3])}",
            hint=f"cancel them, or use --force ({_FAIL if watched.managed else _GO_ON})",
        )
    app.displays.remove(watched, lambda: call.reply(DisplayReply(app.displays.info(watched))))


@handles(DisplayTake)
def display_take(app: App, request: DisplayTake, call: Call) -> None:
    """Take the display over; the reply leaves when that is stored."""

    def on_display(watched: WatchedDisplay) -> None:
        taken = app.takeovers.take(watched, request.who, request.for_s, request.note, request.lease)
        info = app.displays.info_with_takeover(watched, taken)
        call.reply(TakeReply(taken.lease, taken.until.utc_s, info))

    app.displays.with_display(request.display, call.then(on_display))


@handles(DisplayRelease)
def display_release(app: App, request: DisplayRelease, call: Call) -> DisplayReply:
    """Give the display back."""
    watched = app.watched_displays.get(request.display)
    app.takeovers.release(watched, request.lease, force=request.force, note=request.note.strip())
    return DisplayReply(app.displays.info_with_takeover(watched, None))


@handles(NotificationAnswer)
def notification_answer(app: App, request: NotificationAnswer, call: Call) -> NotificationReply:
    """Choose an action of a notification, or close it."""
    watched = app.watched_displays.get(request.name)
    app.takeovers.check(watched, "")
    return NotificationReply(app.notifications.answer(watched, request.notification_id, request.action))
