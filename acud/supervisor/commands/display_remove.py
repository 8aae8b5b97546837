"""Answer `display_remove`."""

from __future__ import annotations

from acud.errors import Conflict
from acud.protocol.requests.displays import DisplayRemove, DisplayReply
from acud.supervisor.app import App
from acud.supervisor.control import Call

_FAIL = "they fail; those armed with on_display_lost = wait go on"
_GO_ON = "they go on, and are unknown until a display of that name is back"


def handle(app: App, request: DisplayRemove, call: Call) -> None:
    """End or forget a display; the reply waits until a managed one is gone."""
    screen = app.screens.get(request.name)
    looking = app.waits.on_display(screen.name)
    if looking and not request.force:
        raise Conflict(
            f"{len(looking)} live waits look at {screen.name}: {', '.join(looking[:3])}",
            hint=f"cancel them, or use --force ({_FAIL if screen.managed else _GO_ON})",
        )
    app.hosting.remove(screen, lambda: call.reply(DisplayReply(app.hosting.info(screen))))
