"""When freed memory goes back to the system, and that it does."""

import subprocess
import sys

import pytest

from acud.evaluator.memory import MemoryTrim
from tests.fixtures.manual_clock import ManualClock

SCRIPT = """
import sys
from concurrent.futures import ThreadPoolExecutor
from acud.evaluator import memory
from acud.process.child_process import rss_mb

memory.keep_freed_memory()
blocks = []


def use():
    blocks.extend(bytearray(1 << 20) for _ in range(48))


with ThreadPoolExecutor(1) as threads:
    if sys.argv[1] == "thread":
        threads.submit(use).result()
    else:
        use()
        stays = blocks.pop()  # the highest: without it malloc would give back the top by itself
    full = rss_mb()
    blocks.clear()
    kept = rss_mb()
    memory.give_back()
    print(full - kept, kept - rss_mb())
"""


class Process:
    """A process that holds `mb`; `trim` gives back all of it but 100 MB, `times` times so far."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.mb = 100.0
        self.times = 0
        self.trim = MemoryTrim(self.clock.monotonic_s, lambda: self.mb, self._give_back)

    def _give_back(self) -> None:
        self.mb = 100.0
        self.times += 1

    def works(self, mb: float) -> None:
        self.mb += mb
        self.trim.note_work()

    def rests(self, seconds: float, *, busy: bool = False) -> int:
        """Let time pass; return how often memory was given back so far."""
        self.clock.advance(seconds)
        self.trim.trim_if_due(busy=busy)
        return self.times


@pytest.fixture
def process() -> Process:
    return Process()


def test_a_process_that_never_worked_has_nothing_to_give_back(process: Process) -> None:
    process.mb = 900
    assert process.rests(3600) == 0


def test_after_work_once_it_rests(process: Process) -> None:
    process.works(60)
    assert [process.rests(4.9), process.rests(0.2), process.rests(60)] == [0, 1, 1]


def test_under_work_that_never_rests_now_and_then(process: Process) -> None:
    process.works(60)
    assert [process.rests(29.9, busy=True), process.rests(0.2, busy=True)] == [0, 1]
    process.works(60)
    assert process.rests(29.9, busy=True) == 1


def test_what_frames_need_is_kept_until_more_is_left(process: Process) -> None:
    process.works(20)
    assert process.rests(3600) == 0
    process.works(40)
    assert process.rests(6) == 1


@pytest.mark.parametrize("where", ["main", "thread"])
def test_what_malloc_kept_is_given_back(where: str) -> None:
    words = subprocess.run(
        [sys.executable, "-c", SCRIPT, where], stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    freed_mb, given_mb = map(float, words.stdout.split())
    assert freed_mb < 8, "malloc was to keep it"
    assert given_mb > 36
