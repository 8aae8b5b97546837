"""The capture process on one display: pixels and changed tiles exact, demand, pace, epochs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import zmq

from acud.frames.reader import FrameGone, RingReader
from acud.protocol import codec
from acud.protocol.capture import Attach, Notice, SourceHello
from acud.protocol.children import Heartbeat
from acud.types import Rect
from tests.integration.capture_rig import CaptureRig
from tests.integration.painter import BLUE, RED, Painter, Pixels, plain, tiles_in, tiles_of
from tests.integration.xserver import XServer

WIDTH, HEIGHT = 640, 480


@pytest.fixture
def rig(xserver: XServer) -> Iterator[CaptureRig]:
    with CaptureRig(xserver) as rig:
        yield rig


def newest(rig: CaptureRig, source: str = "") -> tuple[int, Pixels, list[int]]:
    """Return number, pixels (fourth byte zeroed) and tile numbers of the newest frame."""
    with rig.reader(source) as reader, reader.newest() as view:
        return view.frame, plain(view.copy()), view.tile_changes.tolist()


def random_box(random: np.random.Generator) -> Rect:
    x, y = int(random.integers(-20, WIDTH)), int(random.integers(-20, HEIGHT))
    return Rect(x, y, int(random.integers(1, 200)), int(random.integers(1, 100)))


# ---- pixels and tiles ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["attachfd", "sysv", "getimage"])
def test_frames_and_tiles_are_exact(xserver: XServer, painter: Painter, method: str) -> None:
    with CaptureRig(xserver, method=method) as rig:
        hello = rig.said[0]
        assert (hello.method, hello.width, hello.height, hello.depth) == (method, WIDTH, HEIGHT, 24)
        first = rig.grab()
        assert (first.frame, first.fresh, first.box) == (1, True, Rect(0, 0, WIDTH, HEIGHT))
        before = painter.look()
        expected = np.ones(40 * 30, np.int64)
        random = np.random.default_rng(11)
        for _ in range(25):
            painter.fill(random_box(random), int(random.integers(1 << 24)))
            now = painter.look()
            notice = rig.grab()
            frame, pixels, changes = newest(rig)
            assert (pixels == now).all()
            assert tiles_in(notice.tiles) == tiles_of(before, now)
            assert notice.frame == frame
            expected[sorted(tiles_in(notice.tiles))] = frame
            assert changes == expected.tolist()
            before = now


def test_no_changed_pixel_is_missed_while_a_client_draws_without_pause(xserver: XServer) -> None:
    """Tiles named by the notices turn each frame into the next; a missed one would leave a difference.

    At this rate a frame's box is small, so that compared inside the boxes read before the grab alone this fails.
    """
    with CaptureRig(xserver, max_fps=1000) as rig:
        rig.grab()
        client = xserver.launch(sys.executable, "-m", "tests.integration.scribbler", xserver.display, xserver.auth_file)
        rig.demand(1000)
        check_frames(rig, wanted=80)
        assert client.poll() is None


def check_frames(rig: CaptureRig, wanted: int) -> None:
    """Compare after all are read: comparing takes so long that hundreds of frames would lie between two."""
    canvas, named, read = newest(rig)[1], set[int](), list[tuple[int, Pixels, set[int]]]()
    with rig.reader() as reader:
        while len(read) < wanted:
            notice = rig.hear(Notice)
            named |= tiles_in(notice.tiles)
            with suppress(FrameGone), reader.newest() as view:
                frame, pixels = view.frame, view.copy()
                while notice.frame < frame:
                    notice = rig.hear(Notice)
                    named |= tiles_in(notice.tiles)
                read.append((frame, pixels, named))
                named = set()
    for frame, pixels, named in read:
        missed = tiles_of(canvas, pixels) - named
        assert not missed, f"frame {frame}: {len(missed)} tiles changed untold"
        canvas = pixels


# ---- pace ----------------------------------------------------------------------------------------------------------


def test_nothing_is_grabbed_while_nobody_asks(rig: CaptureRig, painter: Painter) -> None:
    painter.fill(Rect(0, 0, 100, 100), RED)
    assert rig.settle().counters["grabs"] == 0
    rig.demand(10)
    rig.hear(Notice)
    rig.demand(0)
    rig.settle()
    grabs = rig.settle().counters["grabs"]
    painter.fill(Rect(0, 0, 100, 100), BLUE)
    assert rig.settle().counters["grabs"] == grabs


def test_heartbeats_are_seldom_while_nothing_happens_and_soon_after_a_frame(rig: CaptureRig) -> None:
    rig.kill()
    rig.start(heartbeat_s=0.05, rests_s=60.0)
    rig.until(lambda m: isinstance(m, Heartbeat) and m.rests_s == 60.0)
    frame = rig.grab().frame
    beat = rig.until(lambda m: isinstance(m, Heartbeat))
    assert (beat.newest, beat.rests_s) == ({rig.server.display: (rig.epoch, frame)}, 0.0)
    rig.until(lambda m: isinstance(m, Heartbeat) and m.rests_s == 60.0)
    rig.demand(0.0)
    assert rig.hear(Heartbeat).newest == beat.newest


def test_a_server_without_damage_is_polled() -> None:
    with XServer(extra=("-extension", "DAMAGE")) as server, Painter(server) as painter, CaptureRig(server) as rig:
        rig.demand(50)
        rig.hear(Notice)
        painter.fill(Rect(0, 0, 16, 16), RED)
        assert tiles_in(rig.hear(Notice).tiles) == {0}


# ---- told ----------------------------------------------------------------------------------------------------------


def test_observers_hear_notices_and_disturb_nobody(rig: CaptureRig, painter: Painter) -> None:
    context = zmq.Context()
    observer = context.socket(zmq.SUB)
    try:
        observer.subscribe(b"")
        observer.connect(rig.frames_endpoint)
        while not observer.poll(50):  # subscribing takes its time, and notices before it are lost
            rig.grab()
        heard = codec.decode(observer.recv(), Notice)
        assert heard in [m for m in rig.said if isinstance(m, Notice)]
    finally:
        context.destroy(linger=0)


def test_the_pointers_place_rides_beside_the_frame(rig: CaptureRig, painter: Painter) -> None:
    painter.root.warp_pointer(123, 45)
    painter.fill(Rect(0, 0, 9, 9), RED)
    rig.grab()
    with rig.reader() as reader, reader.newest() as view:
        assert view.cursor[:2] == (123, 45)
        assert view.cursor[2] != 0


# ---- epochs --------------------------------------------------------------------------------------------------------


def test_a_geometry_change_is_a_new_epoch(rig: CaptureRig, painter: Painter) -> None:
    old = rig.grab()
    since = len(rig.said)
    painter.resize_screen(320, 240)
    hello = rig.until(lambda m: isinstance(m, SourceHello), since)
    assert (hello.width, hello.height) == (320, 240)
    notice = rig.grab()
    assert (notice.epoch, notice.frame, notice.fresh) == (old.epoch + 1, old.frame + 1, True)
    assert (newest(rig)[1] == painter.look()).all()


def test_a_ring_of_another_geometry_or_none_is_left_alone(rig: CaptureRig, xserver: XServer) -> None:
    rig.grab()
    rig.send(Attach(xserver.display, str(rig.shm / "none"), 9, 50))
    assert rig.grab().epoch == rig.epoch


def test_only_the_ring_in_use_stays_mapped_in_the_server(rig: CaptureRig, xserver: XServer, painter: Painter) -> None:
    for size in ((320, 240), (640, 480), (320, 240)):
        rig.grab()
        since = len(rig.said)
        painter.resize_screen(*size)
        rig.until(lambda m: isinstance(m, SourceHello), since)
    rig.grab()
    maps = Path(f"/proc/{xserver.pid}/maps").read_text()
    assert maps.count(str(rig.shm)) == 1


def test_stop_ends_in_good_order(rig: CaptureRig) -> None:
    rig.grab()
    rig.stop()
    assert rig.process is not None
    assert rig.process.wait(timeout=60) == 0
    with RingReader(rig.rings[rig.server.display]) as reader:
        assert reader.newest().frame == 1


def test_idle_with_demand_grabs_nothing(rig: CaptureRig) -> None:
    rig.demand(60)
    rig.hear(Notice)
    rig.settle()
    before = rig.settle().counters
    assert rig.settle().counters["grabs"] == before["grabs"]
