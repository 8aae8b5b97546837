"""When freed memory goes back to the system, and that it does."""

import subprocess
import sys

import pytest

from acud.evaluator.memory import MemoryTrim
from tests.manual_clock import ManualClock

SCRIPT = """
from acud.evaluator import memory
from acud.child_process import rss_mb

memory.keep_freed_memory()
blocks = [bytearray(1 << 20) for _ in range(64)]
stays = blocks.pop()  # the highest: without it malloc would give back the top by itself
full = rss_mb()
blocks.clear()
kept = rss_mb()
memory.give_back()
print(full - kept, kept - rss_mb())
"""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_a_process_that_never_worked_has_nothing_to_give_back(clock: ManualClock) -> None:
    memory = MemoryTrim(clock.monotonic_s)
    clock.advance(3600)
    assert not memory.due(busy=False)


def test_after_work_once_it_rests(clock: ManualClock) -> None:
    memory = MemoryTrim(clock.monotonic_s)
    memory.worked()
    clock.advance(4.9)
    assert not memory.due(busy=False)
    clock.advance(0.2)
    assert memory.due(busy=False)
    clock.advance(60)
    assert not memory.due(busy=False)


def test_under_work_that_never_rests_now_and_then(clock: ManualClock) -> None:
    memory = MemoryTrim(clock.monotonic_s)
    memory.worked()
    clock.advance(29.9)
    assert not memory.due(busy=True)
    clock.advance(0.2)
    assert memory.due(busy=True)
    memory.worked()
    clock.advance(29.9)
    assert not memory.due(busy=True)


def test_what_malloc_kept_is_given_back() -> None:
    words = subprocess.run([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    freed_mb, given_mb = map(float, words.stdout.split())
    assert freed_mb < 8, "malloc was to keep it"
    assert given_mb > 50
