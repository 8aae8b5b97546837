"""Notifications in the supervisor: started with the core; findings for doctor; answers to requests."""

from __future__ import annotations

from collections.abc import Iterator

from acud.base.errors import InvalidRequest, Unavailable
from acud.features.notifications.supervisor.desktop_notifications import DesktopNotifications
from acud.features.notifications.supervisor.web_push import WebPush, load_key_pair
from acud.protocol.delivery import Notified
from acud.protocol.requests.daemon import Finding
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
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order


class NotificationsFeature(RunningFeature):
    """Notifications to people: at the desktop and in browsers."""

    def __init__(self, core: Core) -> None:
        self._settings = core.settings.notify
        self._delivery = core.delivery
        keys = load_key_pair(self._settings, core.paths)
        core.delivery.set_push_key(keys[0])
        self.desktop_notifications = DesktopNotifications(core.delivery, core.loop, self._settings, core.redaction)
        self.web_push = WebPush(
            core.journal, core.delivery, core.loop, core.clock, self._settings, keys, core.ports.tasks, core.redaction
        )
        core.journal.committed.add(self.desktop_notifications.on_event, Order.FEATURES)
        core.journal.committed.add(self.web_push.on_event, Order.FEATURES)

    def start(self) -> None:
        """Start the delivery process, if the settings ask for notifications."""
        if self._settings.wanted:
            self._delivery.start()

    def findings(self) -> Iterator[Finding]:
        yield from self._check_desktop()
        yield from self._check_push()

    def _check_desktop(self) -> Iterator[Finding]:
        desktop = self.desktop_notifications
        if not desktop.enabled:
            return
        if desktop.fault:
            yield Finding("notify", "warning", f"the newest notification was not shown: {desktop.fault}", desktop.hint)
        elif desktop.shown:
            yield Finding("notify", "ok", f"{desktop.shown} shown, the newest by {desktop.server}")
        else:
            yield Finding("notify", "ok", "none was shown yet: acud notify test")

    def _check_push(self) -> Iterator[Finding]:
        push = self.web_push
        if not self._settings.push:
            return
        if push.off:
            yield Finding("push", "warning", f"browsers are not notified: {push.off}", "docs/notifications.md")
        elif push.queue.fault:
            fix = "acud logs --level warning; docs/notifications.md"
            yield Finding("push", "warning", f"the newest push was not sent: {push.queue.fault}", fix)
        else:
            yield Finding("push", "ok", f"{len(push.list_all(''))} browsers, {push.queue.sent} pushes sent")


start = NotificationsFeature


@handles(NotifyTest)
async def notify_test(feature: NotificationsFeature, request: NotifyTest, call: Call) -> NotifyTestReply:
    """Show a test notification; answer when the server took it, or with the fault."""
    if not feature.desktop_notifications.enabled:
        raise InvalidRequest("notifications are off", hint="set [notify] enabled = true, then acud daemon restart")
    outcome = await Callback[Notified](feature.desktop_notifications.test)
    if outcome.fault:
        raise Unavailable(f"the notification was not shown: {outcome.fault}", hint=outcome.hint)
    return NotifyTestReply(outcome.server)


@handles(PushList)
def push_list(feature: NotificationsFeature, request: PushList, call: Call) -> PushListReply:
    web_push = feature.web_push
    return PushListReply(not web_push.off, web_push.public_key, web_push.list_all(request.pass_id), web_push.off)


@handles(PushSubscribe)
def push_subscribe(feature: NotificationsFeature, request: PushSubscribe, call: Call) -> PushReply:
    return PushReply(feature.web_push.subscribe(request.pass_id, request.target))


@handles(PushUnsubscribe)
def push_unsubscribe(feature: NotificationsFeature, request: PushUnsubscribe, call: Call) -> PushReply:
    return PushReply(feature.web_push.unsubscribe(request.push_id, request.pass_id))
