"""Answer requests: notifications to people: at the desktop and in browsers."""

from __future__ import annotations

from acud.errors import InvalidRequest, Unavailable
from acud.protocol.relay import Notified
from acud.protocol.requests.notifications import (
    NotifyTest,
    NotifyTestReply,
    PushList,
    PushListReply,
    PushReply,
    PushSubscribe,
    PushUnsubscribe,
)
from acud.supervisor.app import App
from acud.supervisor.control import Call
from acud.supervisor.handlers.registry import handles


@handles(NotifyTest)
def notify_test(app: App, request: NotifyTest, call: Call) -> None:
    """Show one; answer when the server took it, or with why it did not."""
    if not app.notifying.enabled:
        raise InvalidRequest("notifications are off", hint="set [notify] enabled = true, then acud daemon restart")

    def shown(outcome: Notified) -> None:
        if outcome.fault:
            raise Unavailable(f"the notification was not shown: {outcome.fault}", hint=outcome.hint)
        call.reply(NotifyTestReply(outcome.server))

    app.notifying.test(call.later(shown))


@handles(PushList)
def push_list(app: App, request: PushList, call: Call) -> PushListReply:
    """Return who takes notifications."""
    pushing = app.pushing
    return PushListReply(not pushing.off, pushing.public_key, pushing.all(request.pass_id), pushing.off)


@handles(PushSubscribe)
def push_subscribe(app: App, request: PushSubscribe, call: Call) -> PushReply:
    """Keep it."""
    return PushReply(app.pushing.subscribe(request.pass_id, request.target))


@handles(PushUnsubscribe)
def push_unsubscribe(app: App, request: PushUnsubscribe, call: Call) -> PushReply:
    """Forget it."""
    return PushReply(app.pushing.unsubscribe(request.push_id, request.pass_id))
