"""From the X server's pixels to a published slot: ours, its floor, mss, python-xlib; and what comparing costs.

Medians of interleaved rounds, each a short run of one way after the other, so that all see the same machine. `ours_ms`
is grab → slot published, through the default ring of four slots, with damage subtracted and pointer asked, comparison
not counted. Its floor is one round trip (`roundtrip_ms`: a grab of one pixel) and one copy of a frame into the same
rotating ring (`memcpy_ms`). `server_ms` is what the X server computes for one of our grabs, copy included, which
nothing on our side can shorten. The screen is full of noise.

mss returns a copy of its own, and neither asks for the pointer nor subtracts damage nor publishes. python-xlib and mss
have each a connection of their own.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from mss import MSS
from Xlib import X
from Xlib.display import Display

from acud.config import CaptureSettings
from acud.frames.layout import Layout
from acud.frames.ring import Ring
from acud.frames.writer import FrameWriter
from acud.pixels.tiles import TileCompare, bitmap
from acud.types import Rect
from acud.x11.connection import Connection
from acud.x11.damage import Damage
from acud.x11.grab import Area, GrabMemory, choose
from acud.x11.pointer import Cursor
from tests.integration.xserver import XServer

SIZES = ((1280, 720), (1920, 1080))
_ROUNDS = 40
_RUN = 12
_SLOW_RUN = 1
_REST_S = 0.002
"""Before each timed way: in use, capture and server sleep between frames."""
_TEXT_LINE_PX = 16

Way = Callable[[], object]


def run() -> dict[str, Any]:
    figures = {f"{width}x{height}": _measure(width, height) for width, height in SIZES}
    first = figures.pop(f"{SIZES[0][0]}x{SIZES[0][1]}")
    return first | figures


def _measure(width: int, height: int) -> dict[str, Any]:
    with XServer(width, height) as server, Connection(server.display, server.auth_file) as connection:
        _paint_noise(connection, width, height)
        with _rig(connection, width, height) as rig, _peers(server) as (grabber, xlib):
            root = xlib.screen().root
            monitor = {"left": 0, "top": 0, "width": width, "height": height}
            ways: dict[str, tuple[Way, int]] = {
                "ours_ms": (rig.ours, _RUN), "roundtrip_ms": (rig.one_pixel, _RUN), "memcpy_ms": (rig.copy, _RUN),
                "mss_ms": (lambda: grabber.grab(monitor), _RUN),
                "xlib_ms": (lambda: root.get_image(0, 0, width, height, X.ZPixmap, 0xFFFFFFFF), _SLOW_RUN),
                "compare_line_ms": (rig.compare_line, _RUN), "compare_full_ms": (rig.compare_full, _RUN),
            }  # fmt: skip
            taken = _interleaved(ways)
            return _with_ratios(taken | {"server_ms": _server_ms(server, rig)})


def _server_ms(server: XServer, rig: _Rig) -> float:
    """Return the CPU time of the X server for one of our grabs (proc_pid_schedstat: nanoseconds)."""
    computed = []
    for _ in range(_ROUNDS):
        before = _computed_ns(server.pid)
        for _ in range(_RUN):
            _timed_ms(rig.ours)
        computed.append((_computed_ns(server.pid) - before) / _RUN / 1e6)
    return statistics.median(computed)


def _computed_ns(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def _interleaved(ways: dict[str, tuple[Way, int]]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_ROUNDS):
        for name, (way, times) in ways.items():
            for _ in range(min(times, CaptureSettings().slots)):
                way()  # the run before left other things in the caches; once through the ring, untimed
            taken[name] += [_timed_ms(way) for _ in range(times)]
    return {name: statistics.median(values) for name, values in taken.items()}


def _timed_ms(way: Way) -> float:
    time.sleep(_REST_S)
    start = time.perf_counter()
    way()
    return (time.perf_counter() - start) * 1000


def _with_ratios(taken: dict[str, float]) -> dict[str, Any]:
    ours = taken["ours_ms"]
    ratios = {
        "floor_ratio": ours / (taken["roundtrip_ms"] + taken["memcpy_ms"]),
        "vs_mss": ours / taken["mss_ms"],
        "vs_xlib": taken["xlib_ms"] / ours,
    }
    return {name: round(value, 3) for name, value in (taken | ratios).items()}


class _Rig:
    """Our way on one display, in pieces that can be timed."""

    def __init__(self, connection: Connection, ring: Ring) -> None:
        layout = ring.layout
        self._connection = connection
        self._layout = layout
        self._writer = FrameWriter(ring)
        self._path = choose(connection, "attachfd")[1]()
        slots = range(layout.slots)
        self._views = [ring.pixels(k) for k in slots]
        self._path.attach(GrabMemory(ring.fileno(), [layout.pixels_at(k) for k in slots], self._views))
        self._damage, self._cursor = Damage(connection, connection.root), Cursor(connection)
        self._screen = Area(connection.root.id, 0, 0, layout.width, layout.height)
        self._pixel = Area(connection.root.id, 0, 0, 1, 1)
        self._changes = np.zeros(layout.tiles, np.uint64)
        self._box = Rect(0, 0, layout.width, layout.height)
        self._compare = TileCompare(layout.width, layout.height)
        self._frame = 0
        self._turn = 0
        self._source = os.urandom(layout.pixel_bytes)
        random = np.random.default_rng(2)
        shape = (2, layout.height, layout.width, 4)
        self._noise = random.integers(0, 256, shape, dtype=np.uint8)
        self._noise[1] = ~self._noise[0]

    def ours(self) -> None:
        self._frame += 1
        mono_ns = time.monotonic_ns()
        slot = self._writer.begin()
        self._damage.subtract()
        self._cursor.queue_request()
        self._path.grab(self._screen, slot)
        for _ in self._connection.queued_events():
            pass
        self._writer.publish(slot, self._frame, mono_ns, self._box, self._changes, self._cursor.read_answer())

    def one_pixel(self) -> None:
        """One round trip over the same path."""
        self._path.grab(self._pixel, 0)

    def copy(self) -> None:
        self._turn = (self._turn + 1) % self._layout.slots
        self._views[self._turn][:] = self._source

    def compare_line(self) -> None:
        """Compare one line of text between two frames that differ everywhere."""
        self._compared(Rect(100, 296, 600, _TEXT_LINE_PX))

    def compare_full(self) -> None:
        self._compared(None)

    def _compared(self, box: Rect | None) -> None:
        bitmap(mask := self._compare.find_changes(self._noise[0], self._noise[1], box))
        self._compare.bounds(mask)

    def close(self) -> None:
        self._path.close()
        self._views.clear()
        self._writer.close()


@contextmanager
def _rig(connection: Connection, width: int, height: int) -> Iterator[_Rig]:
    with tempfile.TemporaryDirectory(prefix="acud-bench-", dir="/dev/shm") as folder:
        layout = Layout(width, height, CaptureSettings().slots)
        with Ring.create(Path(folder, "ring"), layout, 1) as ring, closing(_Rig(connection, ring)) as rig:
            yield rig


@contextmanager
def _peers(server: XServer) -> Iterator[tuple[MSS, Display]]:
    """Yield mss on its default (XShm) path, and python-xlib; they take the cookie's file from the environment only."""
    before = os.environ.get("XAUTHORITY")
    os.environ["XAUTHORITY"] = server.auth_file
    try:
        with MSS(display=server.display) as grabber, closing(Display(server.display)) as xlib:
            yield grabber, xlib
    finally:
        with suppress(KeyError):
            del os.environ["XAUTHORITY"]
        if before is not None:
            os.environ["XAUTHORITY"] = before


def _paint_noise(connection: Connection, width: int, height: int) -> None:
    random = np.random.default_rng(1)
    gc = connection.root.create_gc()
    rows = 32
    for y in range(0, height, rows):
        data = random.integers(0, 256, (min(rows, height - y), width, 4), dtype=np.uint8).tobytes()
        connection.root.put_image(gc, 0, y, width, min(rows, height - y), X.ZPixmap, 24, 0, data)
    connection.sync()


def table(figures: dict[str, Any]) -> str:
    names = [f"{w}x{h}" for w, h in SIZES]
    columns = [figures.get(name, figures) for name in names]
    keys = [key for key, value in figures.items() if not isinstance(value, dict)]
    head = f"{'':18}" + "".join(f"{name:>12}" for name in names)
    return "\n".join([head, *(f"{key:18}" + "".join(f"{c[key]:>12.3f}" for c in columns) for key in keys)])
