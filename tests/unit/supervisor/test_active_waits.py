"""Live waits by display and by task, and the frames that one is told of later."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from acud.base.errors import NotFound
from acud.store.waits import StoredWait
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits
from acud.supervisor.waits.end_polls import EndPolls
from acud.types import WaitState
from acud.waits import machine
from acud.waits.events import FrameSeen
from acud.waits.frame_coalescing import ChangeBuffer
from tests.fixtures.manual_clock import ManualClock
from tests.unit.waits.rig import spec


def live(wait_id: str, display: str = ":1", task_id: str = "") -> ActiveWait:
    wanted, now = replace(spec(), task_id=task_id), ManualClock().instant()
    stored = StoredWait(wait_id, WaitState.WATCHING, wanted, display, now, now.later(60.0))
    return ActiveWait(stored, machine.arm(wanted, 1.0).wait)


def test_waits_are_found_by_display_and_counted_by_task_as_they_come_and_go() -> None:
    lives = ActiveWaits()
    for wait_id, display, task_id in (("a", ":1", "t"), ("b", ":1", ""), ("c", ":2", "t")):
        lives[wait_id] = live(wait_id, display, task_id)
    assert [one.wait_id for one in lives.on_display(":1")] == ["a", "b"]
    assert (lives.count_on(":1"), lives.count_on(":3"), lives.count_of("t")) == (2, 0, 2)
    lives.pop("a")
    assert lives.pop("a", None) is None
    assert [one.wait_id for one in lives.on_display(":1")] == ["b"]
    assert (lives.count_of("t"), set(lives)) == (1, {"b", "c"})
    for wait_id in ("b", "c"):
        del lives[wait_id]
    assert (lives.on_display(":1"), lives.count_on(":2"), lives.count_of("t")) == ([], 0, 0)


def test_a_wait_that_dozes_counts_its_frames_all_the_same_and_takes_them_in_once() -> None:
    one, buffer = live("a"), ChangeBuffer()
    one.count_frame()
    buffer.record(FrameSeen(1.0, 1, 1, 1, 1.0))
    one.hold_frames(buffer)
    buffer.record(FrameSeen(2.0, 1, 2, 1, 2.0))
    buffer.record(FrameSeen(3.0, 1, 3, 1, 3.0))
    assert (one.holds_frames, one.frames_held, one.frames) == (True, 2, 3)
    assert [frame.frame for frame in one.take_frames()] == [2, 3]
    assert (one.holds_frames, one.frames_held, one.frames) == (False, 0, 3)
    assert one.take_frames() == ()


def test_a_poll_for_a_wait_whose_creation_was_undone_answers_that_it_is_not_there() -> None:
    """The disk was full when the turn that made the wait was stored: the timer of the poll stays."""
    timers: list[Callable[[], None]] = []

    def call_later(_: float, expire: Callable[[], None]) -> SimpleNamespace:
        timers.append(expire)
        return SimpleNamespace(cancel=lambda: None)

    def find(wait_id: str) -> None:
        raise NotFound(f"no wait {wait_id}")

    polls = EndPolls(
        cast("Any", SimpleNamespace(find=find)),
        cast("Any", SimpleNamespace(call_later=call_later)),
        ManualClock(),
        cast("Any", None),
    )
    outcomes: list[object] = []
    polls.add_poll("wait-1", 5.0, outcomes.append, 0.0)
    timers[0]()
    assert [type(one) for one in outcomes] == [NotFound]
