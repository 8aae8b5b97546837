"""Answer `notify_test`."""

from __future__ import annotations

from acud.errors import InvalidRequest, Unavailable
from acud.protocol.relay import Notified
from acud.protocol.requests.notifications import NotifyTest, NotifyTestReply
from acud.supervisor.app import App
from acud.supervisor.control import Call


def handle(app: App, request: NotifyTest, call: Call) -> None:
    """Show one; answer when the server took it, or with why it did not."""
    if not app.notifying.enabled:
        raise InvalidRequest("notifications are off", hint="set [notify] enabled = true, then acud daemon restart")

    def shown(outcome: Notified) -> None:
        if outcome.fault:
            raise Unavailable(f"the notification was not shown: {outcome.fault}", hint=outcome.hint)
        call.reply(NotifyTestReply(outcome.server))

    app.notifying.test(call.later(shown))
