"""Wakes that a dead receiver held up, over a restart: the first that gets through opens its route for all of them, and
first deliveries go before reminders. A real store; the delivery process is a receiver that works, or does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from acud.config import Settings, StoreSettings, WakeSettings
from acud.process.event_loop import EventLoop
from acud.protocol.delivery import Deliver, Delivered, DeliveryHello
from acud.store.store import Store
from acud.supervisor.delivery import DeliveryProcess
from acud.supervisor.journal import Journal
from acud.supervisor.redaction import NoRedaction
from acud.supervisor.wakes import Wakes
from acud.types import RouteName, WakeAddress, WakeInfo, WakeKind, WakeState
from acud.waits import wakes as rules
from tests.fixtures.manual_clock import ManualClock

HOOK = RouteName.WEBHOOK
WAKE = WakeSettings(routes=(HOOK,), webhook_url="http://127.0.0.1:1/", webhook_secret="s", http_concurrency=8)


class Keeper:
    """What the supervisor hands to the delivery process; it never starts."""

    def __init__(self) -> None:
        self.handed: list[Deliver] = []

    def start(self, child: Any, options: Any) -> None:
        """Start nothing."""

    def send(self, child: Any, message: Deliver) -> bool:
        self.handed.append(message)
        return True


class Host:
    """One supervisor's wakes. `came`: what the receiver took, in order; it works when `works` says so."""

    def __init__(self, home: Path, clock: ManualClock, came: list[Deliver]) -> None:
        self.clock = clock
        self.came = came
        self.tried: list[Deliver] = []
        self.works = True
        self.retry_after_s = 0.0
        self.loop = EventLoop(clock.monotonic_s)
        self.store = Store(home / "data.db", home, StoreSettings(), clock.instant().utc_s)
        self.journal = Journal(self.store, self.loop, clock)
        self.keeper = Keeper()
        settings = Settings(wake=WAKE)
        self.delivery = DeliveryProcess(self.keeper, self.loop, settings, Mock())  # type: ignore[arg-type]
        self.wakes = Wakes(self.journal, self.loop, clock, settings, self.delivery, NoRedaction())

    def close(self) -> None:
        self.store.close()

    def hello(self) -> Host:
        """Take up what was left, and have the delivery process there."""
        self.wakes.resume()
        self.delivery.handle_message(self.delivery.child, DeliveryHello(1))
        self.settle()
        return self

    def settle(self) -> None:
        """Do what is due, and answer the deliveries, until there are none."""
        while True:
            self.loop.turn(0)
            self.journal.end_turn()
            handed, self.keeper.handed = self.keeper.handed, []
            for one in handed:
                self.answer(one)
            if not handed:
                return

    def answer(self, one: Deliver) -> None:
        """Answer a delivery as the receiver does now."""
        self.tried.append(one)
        if self.works:
            self.came.append(one)
        result = "sent" if self.works else "retry"
        pause = 0.0 if self.works else self.retry_after_s
        said = Delivered(one.wake_id, one.attempt, one.route, result, "", pause, 1.0)  # type: ignore[arg-type]
        self.delivery.handle_message(self.delivery.child, said)

    def later(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.settle()

    def make(self, number: int, agent: str = "") -> None:
        now = self.clock.instant().utc_s
        wake = WakeInfo(
            f"wake-{number:03}",
            WakeKind.RESOLVED,
            "done",
            f"wait-{number:03}",
            address=WakeAddress(agent_id=agent),
            routes=rules.routes_of((HOOK,)),
            created_utc_s=now,
            begun_utc_s=now,
        )
        self.wakes.write(wake)
        self.journal.after_commit(lambda: self.wakes.begin(wake))
        self.journal.end_turn()
        self.settle()

    def states(self) -> dict[str, int]:
        return self.store.outbox.counts()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def down(tmp_path: Path, clock: ManualClock) -> Iterator[Host]:
    """A supervisor whose receiver is dead, and which has wakes to bring."""
    with closing(Host(tmp_path, clock, [])) as host:
        host.works = False
        host.hello()
        yield host


def _next(host: Host, tmp_path: Path) -> Host:
    host.close()
    return Host(tmp_path, host.clock, host.came)


def test_a_route_that_works_again_lets_all_through_at_the_restart(down: Host, tmp_path: Path) -> None:
    for number in range(20):
        down.make(number)
    for _ in range(600):  # far into the pauses: 5 minutes and more between two tries
        down.later(1.0)
    with closing(_next(down, tmp_path)) as host:
        host.hello()
        assert host.states() == {"sent": 20}
        assert [one.wake_id for one in host.came] == [f"wake-{number:03}" for number in range(20)]


def test_a_receiver_that_asked_for_a_pause_has_it_over_a_restart(down: Host, tmp_path: Path) -> None:
    down.retry_after_s = 120.0
    down.make(1)
    down.make(2)
    with closing(_next(down, tmp_path)) as host:
        host.hello()
        host.later(118.0)
        assert host.tried == []
        host.later(3.0)
        host.later(1.0)
        assert host.states() == {"sent": 2}


def test_first_deliveries_go_before_the_reminders_of_what_was_sent(tmp_path: Path, clock: ManualClock) -> None:
    with closing(Host(tmp_path, clock, [])) as before:
        before.hello()
        for number in range(10):
            before.make(number, agent="a" if number % 2 else "b")
        assert before.states() == {"sent": 10}
        before.works = False
        for number in range(10, 30):
            before.make(number, agent="a" if number % 2 else "b")
        for _ in range(290):
            before.later(1.0)
        clock.advance(WAKE.remind_after_s - 289)  # the reminders are due, the first deliveries are not tried again yet
        with closing(_next(before, tmp_path)) as host:
            host.came.clear()
            host.hello()
            for _ in range(5):
                host.later(1.0)
            assert [one.reminder for one in host.came] == [0] * 20 + [1] * 10


def test_a_route_that_is_still_dead_is_tried_by_one(down: Host, tmp_path: Path) -> None:
    for number in range(20):
        down.make(number)
    for _ in range(600):
        down.later(1.0)
    with closing(_next(down, tmp_path)) as host:
        host.works = False
        host.hello()
        assert len(host.tried) == 1
        assert "webhook" in host.delivery.find_failing()
        host.works = True
        for _ in range(4):
            host.later(1.0)
        assert host.states() == {"sent": 20}


def test_a_wake_that_its_receiver_never_takes_holds_no_reminder_up(tmp_path: Path, clock: ManualClock) -> None:
    class Choosy(Host):
        def answer(self, one: Deliver) -> None:
            self.works = one.wake_id != "wake-001"
            super().answer(one)

    with closing(Choosy(tmp_path, clock, [])) as host:
        host.hello()
        host.make(1)
        for number in range(2, 5):
            host.later(5.0)
            host.make(number)
        for _ in range(int(WAKE.remind_after_s) + 10):
            host.later(1.0)
        assert sorted(one.wake_id for one in host.came if one.reminder) == ["wake-002", "wake-003", "wake-004"]
        tries = [one for one in host.tried if one.wake_id == "wake-001"]
        assert len(tries) < 14
        assert host.wakes.find_newest(host.store.outbox.find("wake-001")).state is WakeState.PENDING
