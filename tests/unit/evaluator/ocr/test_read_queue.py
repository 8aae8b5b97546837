"""A change is read before a first reading is done; none is overtaken for ever, or out of its view's order."""

import threading
from collections.abc import Generator
from concurrent.futures import CancelledError, Future

import pytest

from acud.evaluator.ocr.read_queue import MOST_OVERTAKEN, ReadingQueue


class Desk:
    """A queue whose first reading stands at its first step until `go` is set."""

    def __init__(self) -> None:
        self.queue: ReadingQueue[str] = ReadingQueue()
        self.done: list[str] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def first(self, name: str, steps: int = 3) -> Future[str]:
        return self.queue.ask(name, lambda: self._steps(name, steps, hold=True), lambda: False)

    def change(self, name: str, key: str = "") -> Future[str]:
        return self.queue.ask(key or name, lambda: self._steps(name, 1, hold=False), lambda: True)

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


def test_readings_of_one_view_keep_their_order(desk: Desk) -> None:
    first = desk.first("view")
    assert desk.begun.wait(30)
    later = desk.change("later", key="view")
    desk.go.set()
    assert (first.result(30), later.result(30)) == ("view", "later")
    assert desk.done == ["view", "later"]


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
