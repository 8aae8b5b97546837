"""Notifications in the supervisor: started with the core, and what doctor tells of them."""

from __future__ import annotations

from collections.abc import Iterator

from acud.features.notifications.supervisor import handlers as handlers  # registers them
from acud.features.notifications.supervisor.desktop_notifications import DesktopNotifications
from acud.features.notifications.supervisor.web_push import WebPush, key_pair
from acud.protocol.requests.daemon import Finding
from acud.supervisor.core import Core
from acud.supervisor.feature import RunningFeature
from acud.supervisor.observers import Order


class NotificationsFeature(RunningFeature):
    """Notifications to people: at the desktop and in browsers."""

    def __init__(self, core: Core) -> None:
        self._settings = core.settings.notify
        self._delivery = core.delivery
        keys = key_pair(self._settings, core.paths)
        core.delivery.set_push_key(keys[0])
        written, monotonic_s = core.redaction.redact, core.clock.monotonic_s
        self.desktop_notifications = DesktopNotifications(
            core.delivery, core.loop, monotonic_s, self._settings, written
        )
        self.web_push = WebPush(
            core.journal,
            core.delivery,
            core.loop,
            (core.utc_s, monotonic_s),
            self._settings,
            keys,
            core.ports.tasks,
            written,
        )
        core.committed_events.add(self.desktop_notifications.heard, Order.FEATURES)
        core.committed_events.add(self.web_push.heard, Order.FEATURES)

    def start(self) -> None:
        """Start the process that shows and sends them, where the settings want any."""
        if self._settings.wanted:
            self._delivery.start()

    def findings(self) -> Iterator[Finding]:
        """Yield how notifications fare."""
        yield from self._desktop()
        yield from self._push()

    def _desktop(self) -> Iterator[Finding]:
        desktop = self.desktop_notifications
        if not desktop.enabled:
            return
        if desktop.fault:
            yield Finding("notify", "warning", f"the newest notification was not shown: {desktop.fault}", desktop.hint)
        elif desktop.shown:
            yield Finding("notify", "ok", f"{desktop.shown} shown, the newest by {desktop.server}")
        else:
            yield Finding("notify", "ok", "none was shown yet: acud notify test")

    def _push(self) -> Iterator[Finding]:
        push = self.web_push
        if not self._settings.push:
            return
        if push.off:
            yield Finding("push", "warning", f"browsers are not notified: {push.off}", "docs/notifications.md")
        elif push.queue.fault:
            fix = "acud logs --level warning; docs/notifications.md"
            yield Finding("push", "warning", f"the newest push was not sent: {push.queue.fault}", fix)
        else:
            yield Finding("push", "ok", f"{len(push.all(''))} browsers, {push.queue.sent} pushes sent")


def start(core: Core) -> NotificationsFeature:
    """Start the feature."""
    return NotificationsFeature(core)
