"""No torn frame is ever returned as whole: writer and readers in processes of their own, SIGKILL at any step."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acud.frames.layout import Layout
from acud.frames.reader import FrameGone, RingReader
from acud.frames.ring import Ring
from tests.integration import ring_processes

ROOT = Path(__file__).parents[2]
SMALL = Layout(48, 40, 3)
STORES_A_FRAME = 14
"""Sequence, two halves of pixels, nine words, tile numbers, sequence."""


def start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.integration.ring_processes", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="acud-test-", dir="/dev/shm") as name:
        yield Path(name)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stores=st.integers(1, 6 * STORES_A_FRAME))
def test_a_writer_killed_at_any_store_leaves_only_whole_frames(folder: Path, stores: int) -> None:
    path = folder / "killed"
    with Ring.create(path, SMALL, 1) as ring:
        try:
            with start("write", path, stores) as writer:
                assert writer.wait() == -signal.SIGKILL
            check_what_is_left(path, published=stores // STORES_A_FRAME)
        finally:
            ring.unlink()


def check_what_is_left(path: Path, published: int) -> None:
    with RingReader(path) as reader:
        if not published:
            with pytest.raises(FrameGone):
                reader.newest()
            return
        with reader.newest() as view:
            assert view.frame == published
            assert ring_processes.fault(view) == ""


@pytest.mark.parametrize(("size", "looks"), [((48, 40), 200), ((1280, 720), 30)])
def test_readers_of_a_running_writer_see_only_whole_frames(folder: Path, size: tuple[int, int], looks: int) -> None:
    path = folder / f"running-{size[0]}"
    with Ring.create(path, Layout(*size, 3), 1) as ring:
        with start("write", path, 0) as writer:
            readers = [start("read", path, looks) for _ in range(2)]
            said = [reader.communicate(timeout=250)[0] for reader in readers]
            writer.kill()
        ring.unlink()
    assert said == [b"", b""]
    assert [reader.returncode for reader in readers] == [0, 0]


def test_a_killed_reader_disturbs_nobody(folder: Path) -> None:
    path = folder / "reader"
    with Ring.create(path, SMALL, 1) as ring:
        with start("write", path, 0) as writer:
            victim, reader = start("read", path, 10**9), start("read", path, 100)
            victim.kill()
            assert reader.communicate(timeout=250)[0] == b""
            victim.communicate()
            writer.kill()
        ring.unlink()
