"""Answer requests: notifications to people: at the desktop and in browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acud.errors import InvalidRequest, Unavailable
from acud.protocol.delivery import Notified
from acud.protocol.requests.notifications import (
    NotifyTest,
    NotifyTestReply,
    PushList,
    PushListReply,
    PushReply,
    PushSubscribe,
    PushUnsubscribe,
)
from acud.supervisor.control import Call, handles

if TYPE_CHECKING:
    from acud.features.notifications.supervisor.feature import NotificationsFeature


@handles(NotifyTest)
def notify_test(feature: NotificationsFeature, request: NotifyTest, call: Call) -> None:
    """Show one; answer when the server took it, or with why it did not."""
    if not feature.desktop_notifications.enabled:
        raise InvalidRequest("notifications are off", hint="set [notify] enabled = true, then acud daemon restart")

    def shown(outcome: Notified) -> None:
        if outcome.fault:
            raise Unavailable(f"the notification was not shown: {outcome.fault}", hint=outcome.hint)
        call.reply(NotifyTestReply(outcome.server))

    feature.desktop_notifications.test(call.later(shown))


@handles(PushList)
def push_list(feature: NotificationsFeature, request: PushList, call: Call) -> PushListReply:
    """Return who takes notifications."""
    web_push = feature.web_push
    return PushListReply(not web_push.off, web_push.public_key, web_push.all(request.pass_id), web_push.off)


@handles(PushSubscribe)
def push_subscribe(feature: NotificationsFeature, request: PushSubscribe, call: Call) -> PushReply:
    """Keep it."""
    return PushReply(feature.web_push.subscribe(request.pass_id, request.target))


@handles(PushUnsubscribe)
def push_unsubscribe(feature: NotificationsFeature, request: PushUnsubscribe, call: Call) -> PushReply:
    """Forget it."""
    return PushReply(feature.web_push.unsubscribe(request.push_id, request.pass_id))
