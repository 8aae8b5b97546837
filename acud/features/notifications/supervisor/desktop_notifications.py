"""Desktop notifications: chosen from committed events, sent one at a time by the delivery process, never waited for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.config import NotifySettings
from acud.features.notifications.notice import Rate, describe_event
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.delivery import Notified, Notify
from acud.protocol.events import Event
from acud.supervisor.delivery import DeliveryProcess, Undone
from acud.supervisor.observers import Order
from acud.supervisor.redaction import Redaction

_LOG = log.logger("desktop_notifications")
_MOST = 8
"""Notifications queued for the delivery process; of more, the oldest are dropped, and the next one counts them."""
_LATE_S = 10.0
"""Time beyond the server's limit after which the delivery process counts as hung."""

Done = Callable[[Notified], None]


def _log_fault(outcome: Notified) -> None:
    if outcome.fault:
        _LOG.warning("notice.failed", fault=outcome.fault)


class _Waiting(Struct, frozen=True):
    notice: Notify
    done: Done
    again: bool = False
    """Whether the delivery process ended while it held it: it is tried twice, as shown twice is better than never."""


class DesktopNotifications:
    """Gets every committed event. `fault` and `hint`: why the newest notification was not shown ("": it was)."""

    def __init__(
        self, delivery: DeliveryProcess, loop: EventLoop, settings: NotifySettings, redaction: Redaction
    ) -> None:
        self._delivery = delivery
        self._loop = loop
        self._settings = settings
        self._screen_text = redaction.redact if settings.screen_text else None
        self._rate = Rate(settings.per_minute)
        self._queue: deque[_Waiting] = deque()
        self._in_hand: _Waiting | None = None
        self._late: Timer | None = None
        self._number = 0
        self.fault = ""
        self.hint = ""
        self.server = ""
        """The server that showed the newest one."""
        self.shown = 0
        delivery.ready.add(self._send_next, Order.FEATURES)
        delivery.notified.add(self._on_outcome, Order.FEATURES)

    @property
    def enabled(self) -> bool:
        return self._settings.enabled

    def on_event(self, event: Event) -> None:
        """Notify of `event`, if the settings ask for its kind and the rate allows it."""
        if not self._settings.enabled:
            return
        notice = describe_event(event.topic, event.subject, event.data, self._screen_text)
        if notice is None or notice.kind not in self._settings.kinds:
            return
        held = self._rate.try_pass(self._loop.now_s())
        if held is not None:
            more = f" (and {held} more that were not shown)" if held else ""
            self._queue_notice(notice.title, notice.body + more, urgent=notice.urgent, on_done=_log_fault)

    def test(self, on_done: Done) -> None:
        """Show a test notification; `on_done` gets its outcome."""
        self._queue_notice("acud", "Notifications arrive here.", urgent=False, on_done=on_done)

    def _queue_notice(self, title: str, body: str, *, urgent: bool, on_done: Done) -> None:
        self._number += 1
        self._queue.append(_Waiting(Notify(self._number, title, body, urgent), on_done))
        if len(self._queue) > _MOST:
            self._rate.count_held()
            oldest = self._queue.popleft()
            oldest.done(Notified(oldest.notice.number, fault="too many notifications wait for the delivery process"))
        self._delivery.start()
        self._send_next()

    def _send_next(self) -> None:
        if self._in_hand is None and self._queue and self._delivery.notify(self._queue[0].notice):
            self._in_hand = self._queue.popleft()
            gone = Undone("the delivery process lost the notification")
            self._late = self._loop.call_later(self._settings.timeout_s + _LATE_S, lambda: self._on_outcome(gone))

    def _on_outcome(self, outcome: Notified | Undone) -> None:
        waiting = self._in_hand
        if waiting is None or (isinstance(outcome, Notified) and outcome.number != waiting.notice.number):
            return
        self._in_hand = None
        if self._late is not None:
            self._late.cancel()
        if isinstance(outcome, Undone):
            if not waiting.again:
                self._queue.appendleft(replace(waiting, again=True))
                self._send_next()
                return
            outcome = Notified(waiting.notice.number, fault=outcome.reason, hint="acud logs --level error")
        self.fault, self.hint = outcome.fault, outcome.hint
        self.server = outcome.server or self.server
        self.shown += not outcome.fault
        waiting.done(outcome)
        self._send_next()
