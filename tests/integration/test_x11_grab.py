"""Every way to the pixels gives what core GetImage gives, says what it is, and leaves nothing behind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from acud.types import Rect
from acud.x11.connection import Connection
from acud.x11.grab import METHODS, Area, GrabMemory, GrabPath, PixelsGone, SegmentRefused, SharedMemory, choose
from tests.integration.painter import RED, Painter, plain
from tests.integration.xserver import XServer

WIDTH, HEIGHT = 640, 480


@pytest.fixture
def connection(xserver: XServer) -> Iterator[Connection]:
    with Connection(xserver.display, xserver.auth_file) as connection:
        yield connection


class File:
    """Two slots in a file of shared memory."""

    def __init__(self, size: int) -> None:
        import mmap
        import os

        self.fd = os.memfd_create("slots")
        os.ftruncate(self.fd, 4096 + 2 * size)
        self.map = mmap.mmap(self.fd, 4096 + 2 * size)
        offsets = [4096, 4096 + size]
        self.target = GrabMemory(self.fd, offsets, [memoryview(self.map)[o : o + size] for o in offsets])

    def pixels(self, slot: int) -> np.ndarray:
        return np.frombuffer(self.target.views[slot], np.uint8)


@pytest.mark.parametrize("method", METHODS)
def test_pixels_equal_core_get_image(connection: Connection, painter: Painter, method: str) -> None:
    choice, make = choose(connection, method)
    assert choice.method == method
    file = File(WIDTH * HEIGHT * 4)
    path = make()
    path.attach(file.target)
    random = np.random.default_rng(3)
    for step in range(6):
        x, y, w, h = (int(v) for v in random.integers(1, 300, 4))
        painter.fill(Rect(x, y, w, h), int(random.integers(1 << 24)))
        path.grab(Area(connection.root.id, 0, 0, WIDTH, HEIGHT), step % 2)
        frame = file.pixels(step % 2).reshape(HEIGHT, WIDTH, 4)
        assert (plain(frame) == painter.look()).all()
    path.close()
    path.close()


@pytest.mark.parametrize("method", METHODS)
def test_pixels_that_are_not_there_are_said(connection: Connection, method: str) -> None:
    path = attached(connection, method)
    for area in (Area(connection.root.id, 1, 0, WIDTH, HEIGHT), Area(0x7FFFFF, 0, 0, WIDTH, HEIGHT)):
        with pytest.raises(PixelsGone):
            path.grab(area, 0)
    path.grab(Area(connection.root.id, 0, 0, WIDTH, HEIGHT), 0)
    path.close()


def attached(connection: Connection, method: str) -> GrabPath:
    path = choose(connection, method)[1]()
    path.attach(File(WIDTH * HEIGHT * 4).target)
    return path


def test_the_best_way_is_chosen_without_a_word(connection: Connection) -> None:
    choice, _ = choose(connection, "auto")
    assert (choice.method, choice.reason) == ("attachfd", "")


def test_a_way_that_was_set_is_said(connection: Connection) -> None:
    choice, _ = choose(connection, "sysv")
    assert (choice.method, choice.reason) == ("sysv", "[capture] method is sysv")


def test_a_server_without_mit_shm_falls_back_and_says_why() -> None:
    with XServer(extra=("-extension", "MIT-SHM")) as server, Connection(server.display, server.auth_file) as connection:
        choice, _ = choose(connection, "auto")
        assert choice.method == "getimage"
        assert "no attachfd: the X server has no MIT-SHM" in choice.reason


def test_a_new_target_frees_the_one_before(xserver: XServer, connection: Connection) -> None:
    path = attached(connection, "attachfd")
    for _ in range(5):
        path.attach(File(WIDTH * HEIGHT * 4).target)
    connection.sync()
    assert mapped(xserver, "memfd:slots") == 1
    path.close()
    connection.sync()
    assert mapped(xserver, "memfd:slots") == 0


def test_system_v_segments_vanish(xserver: XServer, connection: Connection) -> None:
    before = segments()
    path = attached(connection, "sysv")
    assert segments() != before
    path.close()
    connection.sync()
    assert segments() == before


def segments() -> set[str]:
    """Return the segments that this process made, and no other test (proc(5): key, shmid, perms, size, cpid, …)."""
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return {row[1] for row in rows if int(row[4]) == os.getpid()}


def test_memory_the_server_can_not_map_is_refused(connection: Connection, tmp_path: Path) -> None:
    path = tmp_path / "read-only"
    path.write_bytes(bytes(4096))
    with path.open("rb") as file, pytest.raises(SegmentRefused):
        SharedMemory(connection).attach_fd(file.fileno())
    connection.sync()


def mapped(server: XServer, name: str) -> int:
    return len(re.findall(re.escape(name), Path(f"/proc/{server.pid}/maps").read_text()))


def test_the_pointer_is_never_in_the_pixels(connection: Connection, painter: Painter) -> None:
    painter.fill(Rect(0, 0, WIDTH, HEIGHT), RED)
    painter.root.warp_pointer(100, 100)
    painter.connection.sync()
    file = File(WIDTH * HEIGHT * 4)
    path = choose(connection, "auto")[1]()
    path.attach(file.target)
    path.grab(Area(connection.root.id, 0, 0, WIDTH, HEIGHT), 0)
    assert (file.pixels(0).reshape(-1, 4)[:, :3] == (0, 0, 255)).all()
    path.close()
