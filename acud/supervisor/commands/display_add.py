"""Answer `display_add`."""

from __future__ import annotations

from acud.errors import AcudError
from acud.protocol.requests.displays import DisplayAdd, DisplayReply
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.fleet import not_the_endpoint
from acud.supervisor.screens import Screen


def handle(app: App, request: DisplayAdd, call: Call) -> None:
    """Adopt the display; the reply waits for its first ring, or says why there is none."""
    if "/" in request.name:
        raise not_the_endpoint()

    def done(outcome: Screen | AcudError) -> None:
        if isinstance(outcome, AcudError):
            call.fail(outcome)
        else:
            call.reply(DisplayReply(app.hosting.info(outcome)))

    app.hosting.add(request.name, request.auth_file, call.later(done), request.owner)
