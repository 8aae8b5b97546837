"""Deaths: the X server's, at any moment; the capture process's, and what the next one makes of the old ring."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.frames.reader import FrameGone
from acud.frames.ring import Ring
from acud.process.child_process import EXIT_FAULT
from acud.protocol.capture import Demand, Notice, SourceHello
from acud.protocol.children import Fault
from acud.types import Rect
from tests.integration.capture_rig import CaptureRig
from tests.integration.painter import BLUE, RED, Painter, plain, tiles_in, tiles_of
from tests.integration.xserver import XServer


@pytest.fixture
def rig(xserver: XServer) -> Iterator[CaptureRig]:
    with CaptureRig(xserver) as rig:
        yield rig


def fault_of(rig: CaptureRig) -> Fault:
    """Return the fault that the capture process says, and see it end with the code for one."""
    since = next((n for n, m in enumerate(rig.said) if isinstance(m, Fault)), None)
    fault: Fault = rig.until(lambda m: isinstance(m, Fault), since)
    assert rig.process is not None
    assert rig.process.wait(timeout=60) == EXIT_FAULT
    return fault


# ---- the X server --------------------------------------------------------------------------------------------------


def test_a_server_that_dies_in_the_middle_of_a_grab_is_a_fault_and_no_frame(rig: CaptureRig, xserver: XServer) -> None:
    """The stopped server holds the grab open: the slot is begun, the reply never comes."""
    first = rig.grab()
    os.kill(xserver.pid, signal.SIGSTOP)
    rig.send(Demand(xserver.display, 0, first.grab + 1))
    with Ring.open(rig.rings[xserver.display]) as ring:
        while not any(ring.sequence(slot) & 1 for slot in range(ring.layout.slots)):
            os.sched_yield()
    since = len(rig.said)
    xserver.kill()
    assert fault_of(rig).code == "display_down"
    assert not [m for m in rig.said[since:] if isinstance(m, Notice)]
    with rig.reader() as reader:
        assert reader.newest().frame == first.frame
        with pytest.raises(FrameGone):
            reader.newest(first.frame + 1)


# ---- the capture process -------------------------------------------------------------------------------------------


def test_a_restarted_capture_compares_with_the_old_ring(rig: CaptureRig, xserver: XServer) -> None:
    with Painter(xserver) as painter:
        painter.fill(Rect(0, 0, 640, 480), BLUE)
        rig.grab()
        painter.fill(Rect(50, 50, 100, 20), RED)
        last = rig.grab()
        before = painter.look()
        rig.kill()
        painter.fill(Rect(200, 100, 40, 40), RED)
        rig.start()
        notice = rig.grab()
        now = painter.look()
        assert (notice.epoch, notice.frame, notice.fresh) == (last.epoch + 1, last.frame + 1, False)
        assert tiles_in(notice.tiles) == tiles_of(before, now)
        with rig.reader() as reader, reader.newest() as view:
            assert (plain(view.copy()) == now).all()
            changes = view.tile_changes.tolist()
    assert {t for t, frame in enumerate(changes) if frame == notice.frame} == tiles_in(notice.tiles)
    assert {t for t, frame in enumerate(changes) if frame == last.frame} == tiles_in(last.tiles)


@pytest.mark.parametrize("damage", ["empty", "foreign", "gone"])
def test_an_old_ring_that_tells_nothing_makes_a_fresh_start(rig: CaptureRig, xserver: XServer, damage: str) -> None:
    if damage != "empty":
        rig.grab()
    rig.kill()
    old = rig.rings[xserver.display]
    if damage == "foreign":
        old.write_bytes(b"nonsense")
    elif damage == "gone":
        old.unlink()
    rig.start()
    assert rig.grab().fresh


def test_the_x_server_lets_go_of_a_dead_captures_ring(rig: CaptureRig, xserver: XServer) -> None:
    rig.grab()
    rig.kill()
    rig.start()
    rig.grab()
    assert Path(f"/proc/{xserver.pid}/maps").read_text().count(str(rig.shm)) == 1


def test_a_hello_that_gets_no_ring_waits_without_a_grab(xserver: XServer) -> None:
    """What a full /dev/shm looks like from here: the supervisor can't answer the hello."""
    rig = CaptureRig(xserver)
    rig.attach_ring = lambda hello: None
    with rig:
        rig.demand(60)
        assert rig.settle().counters["grabs"] == 0
        rig.make_ring(next(m for m in rig.said if isinstance(m, SourceHello)))
        assert rig.hear(Notice).frame == 1


def test_a_frame_that_nobody_heard_of_is_not_compared_with(rig: CaptureRig, xserver: XServer) -> None:
    """The notice died with the process: what that frame changed is not known, so the next one may have changed all."""
    heard = rig.grab()
    with Painter(xserver) as painter:
        painter.fill(Rect(50, 50, 100, 20), RED)
        rig.grab()
    rig.kill()
    rig.frames[xserver.display] = heard.frame
    rig.start()
    notice = rig.grab()
    assert (notice.frame, notice.fresh) == (heard.frame + 1, True)
    with rig.reader() as reader, reader.newest() as view:
        assert set(view.tile_changes.tolist()) == {notice.frame}
        assert tiles_in(notice.tiles) == set(range(view.tile_changes.size))
