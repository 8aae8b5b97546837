"""Wakes: written in the transaction of what they report, sent after its commit, and followed until seen."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from acud.base import log
from acud.base.clock import Clock
from acud.base.errors import Conflict, InvalidRequest
from acud.base.ids import new_id, same_id
from acud.base.untrusted_text import own_words, wake_words
from acud.config import Settings
from acud.metrics.catalogue import SLOW_S
from acud.metrics.counters import Histograms
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.delivery import Deliver, Delivered
from acud.store.waits import StoredWait
from acud.supervisor.coroutines import Resume
from acud.supervisor.delivery import DeliveryProcess, Undone
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Order
from acud.supervisor.redaction import Redaction
from acud.types import RouteName, WakeAddress, WakeInfo, WakeKind, WakeState
from acud.types.agent_runs import RunInfo
from acud.waits import wake_text
from acud.waits import wakes as rules
from acud.waits.effects import FleetEnd

_LOG = log.logger("wakes")
FETCH_S = 1.0
"""If a long-poll is fetching the result, the wake waits this long for the reply to be sent."""
_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Agent ids that an address may name; a task may give its agent any name."""
_JITTER = random.SystemRandom()


class Wakes:
    """Every open wake of this supervisor; closed wakes are rows only."""

    def __init__(
        self,
        journal: Journal,
        loop: EventLoop,
        clock: Clock,
        settings: Settings,
        delivery: DeliveryProcess,
        redaction: Redaction,
    ) -> None:
        wake = settings.wake
        self._journal, self._loop, self._clock = journal, loop, clock
        self._routes = wake.routes
        self._lacks = settings.lacks
        self._terms = rules.RetryTerms(
            wake.retry_first_s, wake.retry_max_s, wake.retry_for_s, wake.remind_after_s, wake.max_reminders
        )
        self._delivery, self._redaction = delivery, redaction
        delivery.reopened.add(self._on_reopened, Order.CORE)
        self._open: dict[str, WakeInfo] = {}
        self._reminders: dict[str, None] = {}
        """Due reminders, in order: each is sent once no first delivery goes before it."""
        self._looking: Timer | None = None
        self._timers: dict[str, Timer] = {}
        self.sent_s = Histograms(SLOW_S)  # from a wake's creation to its first sending, by route
        started = clock.instant()
        self._utc_at_boot_s = started.utc_s - started.boot_s

    def _now(self) -> float:
        # Steady: setting the wall clock must neither hurry nor delay a retry.
        return self._utc_at_boot_s + self._clock.instant().boot_s

    # ---- making ----------------------------------------------------------------------------------------------------

    def check(self, address: WakeAddress) -> None:
        """Raise InvalidRequest for an address with routes that are not set up here."""
        for route in address.routes or ():
            missing = self._lacks(route)
            if missing:
                raise InvalidRequest(f"route {route.value} is not set up", hint=f"it needs {missing}")

    def routes_of(self, address: WakeAddress) -> tuple[RouteName, ...]:
        return tuple(self._routes if address.routes is None else address.routes)

    def make_for_wait(self, stored: StoredWait, end: FleetEnd | None = None) -> WakeInfo | None:
        """Return the wake of a wait that ended; None for an end without a wake (a cancellation). `end`: how the fleet
        ended the wait; a wake that is in the fleet's stream already is not sent over routes of this host.
        """
        kind = rules.KIND_OF_STATE.get(stored.state.value)
        if kind is None:
            return None
        said = own_words(stored.message)
        # The condition is the user's own text; what was seen on the screen is redacted.
        seen = self._redaction.redact_for_wake(stored.verdict.detail) if said != stored.message else ""
        text = wake_text.wait_text(said, stored.wait_id, seen)
        wake = self._make_wake(kind, text, stored.spec.wake, wait_id=stored.wait_id, task_id=stored.spec.task_id)
        return wake if end is None else self._apply_fleet_end(wake, end)

    def _apply_fleet_end(self, wake: WakeInfo, end: FleetEnd) -> WakeInfo:
        if end.seen:
            return replace(wake, state=WakeState.SEEN, seen_utc_s=self._now())
        if end.sent and RouteName.FLEET in self.routes_of(wake.address):
            return replace(wake, state=WakeState.SENT, sent_utc_s=end.utc_s, sent_by=RouteName.FLEET.value)
        return wake

    def send_stuck(self, task_id: str, agent_id: str, text: str) -> None:
        """Write the wake of a stuck task in the caller's mutation, and send it to its agent after the commit."""
        address = WakeAddress(agent_id=agent_id if _AGENT_ID.fullmatch(agent_id) else "")
        wake = self._make_wake(WakeKind.TASK_STUCK, text, address, task_id=task_id)
        self.write(wake)
        self._journal.after_commit(lambda: self.begin(wake))

    def send_run_ended(self, kind: WakeKind, run: RunInfo, text: str) -> None:
        """Write the wake of a run that ended in the caller's mutation, and send it after the commit."""
        wake = replace(self._make_wake(kind, text, run.spec.wake, task_id=run.spec.task_id), run_id=run.run_id)
        self.write(wake)
        self._journal.after_commit(lambda: self.begin(wake))

    def _make_wake(
        self, kind: WakeKind, text: str, address: WakeAddress, *, wait_id: str = "", task_id: str = ""
    ) -> WakeInfo:
        names = self.routes_of(address)
        now = self._now()
        routes = rules.routes_of(names)
        # A wait has one wake; a fleet that ends the wait for a lost host sends it under the same id.
        wake_id = same_id("wake", wait_id) if wait_id else new_id("wake")
        return WakeInfo(wake_id, kind, text, wait_id, task_id, address, routes, created_utc_s=now, begun_utc_s=now)

    def write(self, wake: WakeInfo) -> None:
        """Write a new wake; call this in the mutation that writes what the wake reports."""
        try:
            self._journal.store.outbox.insert(wake)
        except Conflict as fault:
            _LOG.error("wake.unwritten", wake=wake.wake_id, wait=wake.wait_id, fault=fault.message)

    def begin(self, wake: WakeInfo, fetched_s: float = 0.0) -> None:
        """Send a committed wake; if its result is being fetched, only when that has not ended within `fetched_s`."""
        if rules.is_idle(wake):
            return
        self._open[wake.wake_id] = wake
        if fetched_s:
            self._set_timer(wake.wake_id, fetched_s, lambda: self._step_begun(wake.wake_id))
        else:
            self._step_begun(wake.wake_id)

    def _step_begun(self, wake_id: str) -> None:
        self._apply_event(wake_id, rules.WakeBegan(self._now()))

    def resume(self) -> None:
        """Resume the wakes of a former supervisor; the outcome of its last sends is unknown. One wake at once tries a
        route that failed before; when it works, all wakes that it held up are sent.
        """
        now = self._now()
        wakes = self._journal.store.outbox.open()
        for wake in wakes:
            if wake.state in rules.TRYING:
                for route in wake.routes:
                    if not route.refused and (route.tries or route.shut):
                        self._delivery.mark_failing(route.name, route.reason, route.asked_until_utc_s - now)
        for wake in wakes:
            self._open[wake.wake_id] = wake
            self._apply_event(wake.wake_id, rules.WakeResumed(now))

    # ---- requests --------------------------------------------------------------------------------------------------

    def mark_wait_seen(self, wait_id: str) -> None:
        """Note that the result of the ended wait was fetched."""
        self._mark_seen(self._journal.store.outbox.of_wait(wait_id))

    def mark_wake_seen(self, wake_id: str) -> None:
        """Note that the agent took the wake itself. Raises: NotFound."""
        self._mark_seen(self._journal.store.outbox.find(wake_id))

    def mark_run_seen(self, run_id: str) -> None:
        """Note that the result of the ended run was fetched."""
        self._mark_seen(self._journal.store.outbox.of_run(run_id))

    def _mark_seen(self, wake: WakeInfo | None) -> None:
        if wake is not None:
            self._open.setdefault(wake.wake_id, wake)
            self._apply_event(wake.wake_id, rules.ResultFetched(self._now()))
            self._forget_idle(wake.wake_id)

    def retry(self, stored: WakeInfo) -> WakeInfo:
        """Send a stored wake again, over the routes of the present settings. Raises: Conflict when it was seen."""
        wake = self._open.setdefault(stored.wake_id, stored)
        names = self._routes if wake.address.routes is None else wake.address.routes
        self._delivery.try_now(names)
        try:
            self._apply_event(wake.wake_id, rules.RetryRequested(self._now(), names))
            return self.find_newest(wake)
        finally:
            self._forget_idle(wake.wake_id)

    def find_newest(self, wake: WakeInfo) -> WakeInfo:
        """Return the newest state of a wake read from the store."""
        return self._open.get(wake.wake_id, wake)

    # ---- stepping the rules ----------------------------------------------------------------------------------------

    def _apply_event(self, wake_id: str, event: rules.WakeEvent) -> None:
        before = self._open.get(wake_id)
        if before is None:
            return
        after, effects = rules.step(before, event, self._terms)
        self._open[wake_id] = after
        if after.state is not before.state:
            _LOG.debug("wake.moved", wake=wake_id, wait=after.wait_id, before=before.state.value, now=after.state.value)
        if before.state is WakeState.PENDING and after != before:
            self._look_at_reminders()
        if _without_attempts(after) != _without_attempts(before):
            self._keep_wake(after, effects)
        self._set_next_timer(after)
        for effect in effects:
            if isinstance(effect, rules.SendAttempt):
                self._send_attempt(after, effect)

    def _keep_wake(self, after: WakeInfo, effects: tuple[rules.WakeEffect, ...]) -> None:
        reports = [effect for effect in effects if isinstance(effect, rules.WakeReport)]
        self._journal.keep(partial(self._write_wake, after, reports), lambda: self._forget_idle(after.wake_id))

    def _write_wake(self, after: WakeInfo, reports: list[rules.WakeReport]) -> None:
        self._journal.store.outbox.update(self.find_newest(after))
        for report in reports:
            self._journal.event(f"wake.{report.topic}", after.wake_id, **_collect_facts(after))

    def _forget_idle(self, wake_id: str) -> None:
        if wake_id in self._open and rules.is_idle(self._open[wake_id]):
            del self._open[wake_id]

    def _set_next_timer(self, wake: WakeInfo) -> None:
        if wake.next_utc_s:
            self._set_timer(wake.wake_id, wake.next_utc_s - self._now(), lambda: self._on_tick(wake.wake_id))
        else:
            self._stop_timer(wake.wake_id)

    def _on_tick(self, wake_id: str) -> None:
        wake = self._open.get(wake_id)
        if wake is None or wake.state is WakeState.PENDING:
            self._apply_event(wake_id, rules.WakeTicked(self._now()))
        else:
            self._reminders[wake_id] = None
            self._look_at_reminders()

    def _look_at_reminders(self) -> None:
        """Send the due reminders with nothing before them, once at the end of this turn."""
        if self._reminders and self._looking is None:
            self._looking = self._loop.call_later(0.0, self._send_reminders)

    def _send_reminders(self) -> None:
        self._looking = None
        first = rules.first_deliveries(self._open.values())
        for wake_id in list(self._reminders):
            wake = self._open.get(wake_id)
            if wake is None or not rules.must_wait(wake, first):
                del self._reminders[wake_id]
                self._apply_event(wake_id, rules.WakeTicked(self._now()))

    def _set_timer(self, wake_id: str, delay_s: float, callback: Callable[[], None]) -> None:
        self._stop_timer(wake_id)
        self._timers[wake_id] = self._loop.call_later(max(0.0, delay_s), callback)

    def _stop_timer(self, wake_id: str) -> None:
        timer = self._timers.pop(wake_id, None)
        if timer is not None:
            timer.cancel()

    # ---- deliveries ------------------------------------------------------------------------------------------------

    def _send_attempt(self, wake: WakeInfo, send: rules.SendAttempt) -> None:
        route, attempt = send.route.value, send.attempt
        _LOG.debug("wake.due", wake=wake.wake_id, route=route, attempt=attempt, reminders=wake.reminders)
        self._delivery.submit(delivery_of(wake, send), lambda ended: self._on_attempt_ended(wake.wake_id, send, ended))

    def _on_attempt_ended(self, wake_id: str, send: rules.SendAttempt, end: Delivered | Undone) -> None:
        now = self._now()
        if isinstance(end, Delivered):
            self._count_delivery(wake_id, end)
            self._apply_event(
                wake_id,
                rules.AttemptEnded(
                    now, send.attempt, send.route, end.result, end.reason, end.retry_after_s, _JITTER.random()
                ),
            )
        elif end.shut_s:
            self._apply_event(wake_id, rules.RouteShut(now, send.attempt, send.route, now + end.shut_s, end.reason))
        else:
            self._apply_event(wake_id, rules.AttemptLost(now, send.attempt, end.reason))

    def _count_delivery(self, wake_id: str, end: Delivered) -> None:
        wake = self._open.get(wake_id)
        if wake is not None and wake.state is WakeState.PENDING and end.result == "sent":
            self.sent_s.observe(self._now() - wake.created_utc_s, end.route.value)

    def _on_reopened(self, route: RouteName) -> None:
        for wake_id in list(self._open):
            self._apply_event(wake_id, rules.RouteReopened(self._now(), route))

    def send_test(self, route: RouteName, address: WakeAddress, on_done: Resume[Delivered | Undone]) -> None:
        """Send a test over one route, once; the store keeps no trace of the test."""
        words = f"[acud test] This is a test of acud's route {route.value}; there is nothing to do."
        wake_id = new_id("wake")
        delivery = Deliver(
            wake_id,
            1,
            route,
            WakeKind.TEST,
            f"{words} ({wake_id})",
            self._now(),
            session_key=address.session_key,
            agent_id=address.agent_id,
        )
        self._delivery.submit(delivery, on_done, patient=True)


def delivery_of(wake: WakeInfo, send: rules.SendAttempt) -> Deliver:
    return Deliver(
        wake_id=wake.wake_id,
        attempt=send.attempt,
        route=send.route,
        kind=wake.kind,
        text=wake_text.sent_text(wake),
        created_utc_s=wake.created_utc_s,
        wait_id=wake.wait_id,
        task_id=wake.task_id,
        session_key=wake.address.session_key,
        agent_id=wake.address.agent_id,
        reminder=wake.reminders if wake.state is WakeState.REMINDING else 0,
        run_id=wake.run_id,
    )


def _without_attempts(wake: WakeInfo) -> WakeInfo:
    """Return the wake without its attempts, which need not be stored: a restarted supervisor begins them again."""
    return replace(wake, flight=0, attempts=0)


def _collect_facts(wake: WakeInfo) -> dict[str, str | int]:
    return {
        "wait_id": wake.wait_id,
        "task_id": wake.task_id,
        "kind": wake.kind.value,
        "tells": wake_words(wake.text),
        "route": wake.sent_by,
        "attempts": wake.attempts,
        "reminders": wake.reminders,
        "reason": wake.reason,
    }
