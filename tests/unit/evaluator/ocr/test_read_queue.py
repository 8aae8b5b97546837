"""A change is read before a first reading is done, the newest of a view first; none is overtaken for ever."""

import threading
from collections.abc import Generator
from concurrent.futures import CancelledError, Future

import pytest

from acud.evaluator.ocr.read_queue import MOST_OVERTAKEN, SHORT_STEPS, ReadingQueue
from acud.frames.ring import FrameGone
from acud.protocol.evaluation import MOST_READINGS_HELD


class Desk:
    """A queue whose first reading stands at its first step until `go` is set."""

    def __init__(self) -> None:
        self.queue: ReadingQueue[str] = ReadingQueue()
        self.done: list[str] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def first(self, name: str, steps: int = 3, *, known: bool = False) -> Future[str]:
        return self.queue.ask(name, lambda: self._steps(name, steps, hold=True), lambda: known)

    def change(self, name: str, key: str = "", *, is_look: bool = False) -> Future[str]:
        return self.queue.ask(key or name, lambda: self._steps(name, 1, hold=False), lambda: True, is_look=is_look)

    def _steps(self, name: str, count: int, *, hold: bool) -> Generator[None, None, str]:
        for _ in range(count):
            if hold:
                self.begun.set()
                assert self.go.wait(30)
            yield
        self.done.append(name)
        return name


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_change_overtakes_a_first_reading_that_has_begun(desk: Desk) -> None:
    first = desk.first("whole")
    assert desk.begun.wait(30)
    second, change = desk.first("another"), desk.change("Done")
    desk.go.set()
    assert [one.result(30) for one in (first, second, change)] == ["whole", "another", "Done"]
    assert desk.done == ["Done", "whole", "another"]


def test_a_first_reading_is_overtaken_only_so_often(desk: Desk) -> None:
    first = desk.first("whole")
    assert desk.begun.wait(30)
    changes = [desk.change(f"c{number}") for number in range(MOST_OVERTAKEN + 3)]
    desk.go.set()
    for one in (first, *changes):
        one.result(30)
    assert desk.done.index("whole") == MOST_OVERTAKEN


def test_of_one_view_what_has_begun_goes_first_then_the_newest(desk: Desk) -> None:
    first = desk.first("view")
    assert desk.begun.wait(30)
    kept = [desk.change(name, key="view") for name in ("went", "came", "newest")]
    desk.go.set()
    assert [one.result(30) for one in (first, *kept)] == ["view", "went", "came", "newest"]
    assert desk.done == ["view", "newest", "came", "went"]


def test_an_older_look_is_not_read_while_newer_ones_crowd(desk: Desk) -> None:
    first = desk.first("view", steps=1)
    assert desk.begun.wait(30)
    kept = [desk.change(f"c{number}", key="view", is_look=True) for number in range(MOST_READINGS_HELD)]
    desk.go.set()
    assert first.result(30) == "view"
    # c7 is read with all places taken, c6 is left out of the seven that are left, the others have room.
    with pytest.raises(FrameGone):
        kept[6].result(30)
    assert sorted(one.result(30) for one in (*kept[:6], kept[7])) == [f"c{number}" for number in (0, 1, 2, 3, 4, 5, 7)]


def test_an_old_picture_of_a_view_that_changes_on_and_on_is_read_after_so_many(desk: Desk) -> None:
    first = desk.first("view", steps=1)
    assert desk.begun.wait(30)
    kept = [desk.change(f"c{number}", key="view") for number in range(MOST_OVERTAKEN + 3)]
    desk.go.set()
    for one in (first, *kept):
        one.result(30)
    assert desk.done.index("c0") == 1 + MOST_OVERTAKEN


def test_a_change_overtakes_one_that_turned_out_to_be_long(desk: Desk) -> None:
    long = desk.first("all over", steps=SHORT_STEPS + 2, known=True)
    assert desk.begun.wait(30)
    change = desk.change("Done")
    desk.go.set()
    assert (long.result(30), change.result(30)) == ("all over", "Done")
    assert desk.done == ["Done", "all over"]


def test_a_view_that_was_read_just_now_lets_another_one_go_first(desk: Desk) -> None:
    first = desk.first("film", steps=1, known=True)
    assert desk.begun.wait(30)
    later = [desk.change("film again", key="film"), desk.change("quiet")]
    desk.go.set()
    for one in (first, *later):
        one.result(30)
    assert desk.done == ["film", "quiet", "film again"]


def test_a_reading_that_nobody_waits_for_ends_between_two_steps(desk: Desk) -> None:
    first = desk.first("whole", steps=50)
    assert desk.begun.wait(30)
    assert first.cancel()
    change = desk.change("next")
    desk.go.set()
    assert change.result(30) == "next"
    assert desk.done == ["next"]


def test_closing_ends_what_is_under_way(desk: Desk) -> None:
    first, never = desk.first("whole", steps=10_000), desk.first("never")
    assert desk.begun.wait(30)
    threading.Timer(0.05, desk.go.set).start()
    desk.queue.close()
    for one in (first, never):
        with pytest.raises(CancelledError):
            one.result(30)


def test_a_fault_reaches_whoever_asked_and_the_next_is_read(desk: Desk) -> None:
    def broken() -> Generator[None, None, str]:
        yield
        raise ValueError("no letters")

    failed, change = desk.queue.ask("b", broken, lambda: False), desk.change("fine")
    with pytest.raises(ValueError, match="no letters"):
        failed.result(30)
    assert change.result(30) == "fine"
