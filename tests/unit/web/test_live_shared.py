"""What several viewers need is made once, and not kept."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from acud_web.live.composition import Shared


def test_it_is_made_once_for_all_who_come_meanwhile() -> None:
    shared: Shared[int] = Shared()
    inside, go = threading.Event(), threading.Event()
    made: list[int] = []

    def make() -> int:
        inside.set()
        assert go.wait(60)
        made.append(1)
        return 42

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.get, 1, "a", make)
        assert inside.wait(60)
        second = pool.submit(shared.get, 1, "a", make)
        go.set()
        assert (first.result(60), second.result(60)) == (42, 42)
    assert made == [1]


def test_only_the_newest_frames_are_kept() -> None:
    shared: Shared[int] = Shared()
    for frame in (1, 2, 3):
        shared.get(frame, "a", lambda: 0)
    assert shared.get(3, "a", lambda: 1) == 0
    assert shared.get(2, "a", lambda: 1) == 0
    assert shared.get(1, "a", lambda: 1) == 1


def test_a_fault_is_everybodys() -> None:
    shared: Shared[int] = Shared()

    def fail() -> int:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            shared.get(1, "a", fail)
