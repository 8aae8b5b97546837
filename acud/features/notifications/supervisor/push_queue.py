"""Pushes to send: a bounded queue, a few at once in the delivery process, few tries each, pauses set by services."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.config import NotifySettings
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.delivery import Push, Pushed
from acud.protocol.push import PushTarget, origin_of
from acud.supervisor.delivery import DeliveryProcess, Undone
from acud.supervisor.observers import Order

_LOG = log.logger("push_queue")
_MOST = 64
_AT_ONCE = 4
_TRIES = 3
_FIRST_S = 2.0
_LONGEST_S = 3600.0
"""Longest pause of a service; a later push would be stale."""
_UNKNOWN_S = 5.0
"""Seconds until the store is asked again for subscriptions: a revoked one must get no push."""
_LATE_S = 10.0
"""What one may take beyond the time limit: a delivery process that hangs is not waited for."""


class _Going(Struct, frozen=True):
    push_id: str
    push: Push
    tries: int = 0
    after_s: float = 0.0


class PushQueue:
    """Sends through the delivery process. `fault`: why the newest was not sent ("": it was). `list_valid` returns the
    ids of subscriptions (None: unknown now); `forget` is called with one that its push service has dropped.
    """

    def __init__(
        self,
        delivery: DeliveryProcess,
        loop: EventLoop,
        settings: NotifySettings,
        list_valid: Callable[[], set[str] | None],
        forget: Callable[[str], None],
    ) -> None:
        self._delivery = delivery
        self._loop = loop
        self._now = loop.now_s
        self._limit_s = settings.timeout_s + _LATE_S
        self._queue: list[_Going] = []
        self._in_hand: dict[int, tuple[_Going, Timer]] = {}
        self._shut: dict[str, float] = {}
        """By a service's origin: the end of the pause that it asked for."""
        self._alarm: Timer | None = None
        self._number = 0
        self.sent = 0
        self.fault = ""
        self._list_valid, self._forget = list_valid, forget
        delivery.ready.add(self.pump, Order.FEATURES)
        delivery.pushed.add(self._on_outcome, Order.FEATURES)

    def submit(self, push_id: str, target: PushTarget, body: str, *, urgent: bool) -> bool:
        """Send one as soon as possible; return False if too many are queued."""
        if len(self._queue) + len(self._in_hand) >= _MOST:
            self.fault = "too many pushes are queued"
            return False
        self._number += 1
        self._queue.append(_Going(push_id, Push(self._number, target, body, urgent)))
        self._delivery.start()
        self.pump()
        return True

    def pump(self) -> None:
        """Hand the due pushes to the delivery process."""
        now = self._now()
        valid = self._list_valid() if self._queue else set()
        if valid is None:
            self._wake_at(now + _UNKNOWN_S, now)
            return
        self._queue = [one for one in self._queue if one.push_id in valid]
        for one in list(self._queue):
            if len(self._in_hand) >= _AT_ONCE:
                return
            if self._due_s(one) <= now and self._delivery.push(one.push):
                self._queue.remove(one)
                self._track(one)
        self._wake_when_due(now)

    def _due_s(self, one: _Going) -> float:
        return max(one.after_s, self._shut.get(origin_of(one.push.target.endpoint), 0.0))

    def _track(self, one: _Going) -> None:
        number = one.push.number
        lost = Pushed(number, "retry", "the delivery process lost it")
        self._in_hand[number] = (one, self._loop.call_later(self._limit_s, lambda: self._on_outcome(lost)))

    def _wake_when_due(self, now: float) -> None:
        later = [due for one in self._queue if (due := self._due_s(one)) > now]
        if later:
            self._wake_at(min(later), now)

    def _wake_at(self, due_s: float, now: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_later(due_s - now, self.pump)

    def _on_outcome(self, outcome: Pushed | Undone) -> None:
        if isinstance(outcome, Undone):
            for number in list(self._in_hand):
                self._handle_outcome(Pushed(number, "retry", outcome.reason))
        else:
            self._handle_outcome(outcome)
        self.pump()

    def _handle_outcome(self, outcome: Pushed) -> None:
        found = self._in_hand.pop(outcome.number, None)
        if found is None:
            return
        one, timer = found
        timer.cancel()
        if outcome.result == "sent":
            self.sent, self.fault = self.sent + 1, ""
        elif outcome.result == "gone":
            _LOG.info("push.gone", push=one.push_id, reason=outcome.reason)
            self._forget(one.push_id)
        else:
            self._retry_later(one, outcome)

    def _retry_later(self, one: _Going, outcome: Pushed) -> None:
        origin = origin_of(one.push.target.endpoint)
        self.fault = f"{origin}: {outcome.reason}"
        _LOG.warning("push.failed", push=one.push_id, result=outcome.result, reason=outcome.reason)
        pause_s = max(_FIRST_S * 4.0**one.tries, outcome.retry_after_s)
        if outcome.retry_after_s:
            self._shut = {name: until for name, until in self._shut.items() if until > self._now()}
            self._shut[origin] = self._now() + min(outcome.retry_after_s, _LONGEST_S)
        if outcome.result == "retry" and one.tries + 1 < _TRIES and pause_s <= _LONGEST_S:
            self._queue.append(replace(one, tries=one.tries + 1, after_s=self._now() + pause_s))
