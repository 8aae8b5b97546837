"""One turn, one transaction: what leaves only after the commit, and what a full disk cannot make us forget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import Conflict, StoreUnavailable
from acud.config import StoreSettings
from acud.process.event_loop import EventLoop
from acud.protocol.events import Event
from acud.store.store import Store
from acud.supervisor.journal import Journal
from acud.supervisor.observers import Order
from tests.fixtures.manual_clock import ManualClock


class Rig:
    """A journal over a real store; `broken` makes the next commits fail as a full disk would."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = ManualClock()
        self.loop = EventLoop(self.clock.monotonic_s)
        self.store = Store(folder / "data.db", folder, StoreSettings(), 1.0)
        self.told: list[Event] = []
        self.journal = Journal(self.store, self.loop, self.clock)
        self.journal.committed.add(self.told.append, Order.CORE)
        self.broken = False
        commit = self.store.commit_turn

        def failing() -> None:
            if self.broken:
                raise StoreUnavailable("no space left on the disk", hint="free some")
            commit()

        monkeypatch.setattr(self.store, "commit_turn", failing)

    def topics(self) -> list[str]:
        return [event.topic for event in self.store.events.since(0, "", 100).events]

    def later(self, seconds: float) -> None:
        """Let time pass, and the timers that are due."""
        self.clock.advance(seconds)
        self.loop.turn(0)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    made = Rig(tmp_path, monkeypatch)
    with made.store:
        yield made


def test_events_and_effects_leave_after_the_commit(rig: Rig) -> None:
    done: list[str] = []
    rig.journal.event("wait.created", "wait-1")
    rig.journal.after_commit(lambda: done.append("armed"))
    assert (rig.told, done) == ([], [])
    assert rig.journal.end_turn() is None
    assert [event.topic for event in rig.told] == ["wait.created"]
    assert done == ["armed"]
    assert rig.journal.newest == rig.told[0].n


def test_a_refused_request_leaves_no_row_no_event_and_no_effect(rig: Rig) -> None:
    done: list[str] = []

    def refused() -> None:
        with rig.journal.savepoint():
            rig.journal.event("wait.created", "wait-1")
            rig.journal.after_commit(lambda: done.append("armed"))
            raise Conflict("no")

    with pytest.raises(Conflict):
        refused()
    rig.journal.event("wait.created", "wait-2")
    rig.journal.end_turn()
    assert [event.subject for event in rig.told] == ["wait-2"]
    assert done == []


def test_a_full_disk_fails_requests_and_keeps_what_happened(rig: Rig) -> None:
    done: list[str] = []
    rig.broken = True
    rig.journal.after_commit(lambda: done.append("request"))
    rig.journal.keep(lambda: rig.journal.event("wait.resolved", "wait-1"), lambda: done.append("ended"))
    assert isinstance(rig.journal.end_turn(), StoreUnavailable)
    assert (rig.told, done, rig.topics()) == ([], [], [])
    assert rig.journal.fault is not None
    rig.broken = False
    rig.later(1.0)
    assert rig.journal.end_turn() is None
    assert rig.topics() == ["wait.resolved"]
    assert done == ["ended"]
    assert rig.journal.fault is None


def test_what_was_kept_is_written_once(rig: Rig) -> None:
    rig.journal.keep(lambda: rig.journal.event("wait.resolved", "wait-1"))
    rig.journal.end_turn()
    rig.journal.end_turn()
    rig.later(5.0)
    rig.journal.end_turn()
    assert rig.topics() == ["wait.resolved"]


def test_a_broken_store_is_asked_again_only_after_a_second(rig: Rig) -> None:
    tries: list[float] = []

    def mutation() -> None:
        tries.append(rig.clock.monotonic_s())
        rig.journal.event("wait.resolved", "wait-1")

    rig.broken = True
    rig.journal.keep(mutation)
    for _ in range(10):
        rig.journal.end_turn()
        rig.loop.turn(0)
    assert len(tries) == 1
    rig.later(1.0)
    rig.journal.end_turn()
    assert len(tries) == 2


def test_a_mutation_that_the_store_refuses_is_given_up_and_takes_nothing_with_it(rig: Rig) -> None:
    def refused() -> None:
        rig.journal.event("wait.timeout", "wait-1")
        raise Conflict("it has ended already")

    rig.journal.keep(refused)
    rig.journal.keep(lambda: rig.journal.event("wait.resolved", "wait-2"))
    assert rig.journal.end_turn() is None
    assert [event.subject for event in rig.told] == ["wait-2"]
    assert not rig.journal.dirty


def test_records_are_dropped_and_counted_when_too_many_wait(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acud.supervisor.journal._MAX_KEPT", 2)
    rig.broken = True
    for number in range(4):
        rig.journal.keep(lambda n=number: rig.journal.event("wait.judged", f"wait-{n}"), droppable=True)
    rig.journal.keep(lambda: rig.journal.event("wait.resolved", "wait-9"))
    rig.journal.end_turn()
    rig.broken = False
    rig.later(1.0)
    rig.journal.end_turn()
    assert rig.topics() == ["wait.judged", "wait.judged", "wait.resolved"]
    assert rig.journal.dropped == 2
