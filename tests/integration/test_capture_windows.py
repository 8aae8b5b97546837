"""Covered windows as sources of their own: right pixels, right notices, right endings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acud.protocol.capture import DisplayWindows, Notice, SourceGone, SourceHello
from acud.types import Rect
from tests.integration.capture_rig import CaptureRig
from tests.integration.painter import BLUE, GREEN, RED, WHITE, Painter, Pixels, plain, tiles_in
from tests.integration.xserver import XServer

UNDER = Rect(20, 20, 200, 120)
OVER = Rect(60, 40, 300, 200)


@pytest.fixture
def rig(xserver: XServer, painter: Painter) -> Iterator[CaptureRig]:
    with CaptureRig(xserver) as rig:
        yield rig


@pytest.fixture
def under(painter: Painter) -> Any:
    return painter.window(UNDER, RED, "under", border=2)


@pytest.fixture
def over(painter: Painter, under: Any) -> Any:
    return painter.window(OVER, BLUE, "over")


def follow(rig: CaptureRig, window: Any) -> str:
    """Follow `window`, and return the name of its source once its ring is asked for."""
    since = len(rig.said)
    rig.follow(window.id)
    hello = rig.until(lambda m: isinstance(m, SourceHello) and m.window_id == window.id, since)
    return str(hello.source)


def pixels_of(rig: CaptureRig, source: str) -> Pixels:
    with rig.reader(source) as reader, reader.newest() as view:
        return plain(view.copy())


def colour(value: int) -> tuple[int, int, int, int]:
    return value & 255, value >> 8 & 255, value >> 16, 0


def test_painting_a_covered_window_is_noticed_there_and_only_there(
    rig: CaptureRig, painter: Painter, under: Any, over: Any
) -> None:
    source = follow(rig, under)
    rig.grab()
    rig.demand(60, source)
    rig.until(lambda m: isinstance(m, Notice) and m.source == source)
    painter.fill(Rect(100, 64, 30, 10), GREEN, under)
    notice = rig.until(lambda m: isinstance(m, Notice) and m.source == source)
    assert tiles_in(notice.tiles) == {4 * 13 + column for column in (6, 7, 8)}
    assert notice.damage_ns > 0
    expected = np.broadcast_to(np.array(colour(RED), np.uint8), (120, 200, 4)).copy()
    expected[64:74, 100:130] = colour(GREEN)
    assert (pixels_of(rig, source) == expected).all()
    assert rig.grab().tiles == b""


def test_a_covered_program_paints_itself_whole(xserver: XServer, rig: CaptureRig, painter: Painter) -> None:
    """What was covered has to be painted again by the program itself once the window is redirected."""
    # No cursor, five lines, then the title: xterm's requests are in order, so the lines are there when the title is.
    script = r"printf '\033[?25l'; for n in 1 2 3 4 5; do echo line $n; done; printf '\033]0;ready\007'; sleep 1000"
    xserver.launch("xterm", "-T", "before", "-geometry", "40x8+20+20", "-e", "sh", "-c", script)
    info = rig.windows_where(lambda w: [i.title for i in w.windows] == ["ready"]).windows[0]
    seen = painter.look()
    crop = (slice(info.bounds.y, info.bounds.bottom), slice(info.bounds.x, info.bounds.right))
    painter.window(Rect(0, 0, 640, 480), BLUE, "over")
    rig.windows_where(lambda w: [i.visibility for i in w.windows if i.title == "ready"] == ["covered"])
    rig.follow(info.window_id)
    source = str(rig.until(lambda m: isinstance(m, SourceHello)).source)
    while not (pixels_of_now(rig, source) == seen[crop]).all():
        pass


@pytest.mark.parametrize("ending", ["raised", "closed", "unmapped", "unfollowed"])
def test_a_source_ends_with_its_reason(rig: CaptureRig, painter: Painter, under: Any, over: Any, ending: str) -> None:
    source = follow(rig, under)
    rig.grab(source)
    {"raised": under.raise_window, "closed": under.destroy, "unmapped": under.unmap, "unfollowed": rig.follow}[ending]()
    painter.connection.sync()
    gone = rig.until(lambda m: isinstance(m, SourceGone))
    words = {"raised": "visible", "closed": "closed", "unmapped": "withdrawn", "unfollowed": "nobody"}
    assert gone.source == source
    assert words[ending] in gone.reason
    rig.grab()


def pixels_of_now(rig: CaptureRig, source: str) -> Pixels:
    rig.grab(source)
    return pixels_of(rig, source)


def test_without_composite_the_display_goes_on() -> None:
    with XServer(extra=("-extension", "Composite")) as server, Painter(server) as painter, CaptureRig(server) as rig:
        under = painter.window(UNDER, RED, "under")
        painter.window(OVER, BLUE, "over")
        rig.windows_where(lambda w: len(w.windows) == 2)
        rig.follow(under.id)
        assert rig.grab().frame == 1
        rig.settle()
        assert len([m for m in rig.said if isinstance(m, SourceHello)]) == 1


# ---- window snapshots ----------------------------------------------------------------------------------------------


def test_windows_are_told_when_they_change_and_only_then(rig: CaptureRig, painter: Painter) -> None:
    assert rig.windows_where(lambda w: True).windows == ()
    window = painter.window(UNDER, RED, "one")
    told = rig.windows_where(lambda w: [i.title for i in w.windows] == ["one"])
    assert told.windows[0].bounds == UNDER
    window.set_wm_name("two")
    painter.connection.sync()
    rig.windows_where(lambda w: [i.title for i in w.windows] == ["two"])
    count = len([m for m in rig.said if isinstance(m, DisplayWindows)])
    window.set_wm_name("two")
    painter.fill(Rect(0, 0, 10, 10), BLUE, window)
    rig.settle()
    assert len([m for m in rig.said if isinstance(m, DisplayWindows)]) == count


def test_a_frame_never_precedes_the_windows_it_shows(rig: CaptureRig, painter: Painter) -> None:
    """Nobody follows a window: a verdict from the list rests on a picture of its moment all the same."""
    rig.grab()
    for number in range(5):
        since = len(rig.said)
        painter.window(UNDER, RED, f"number {number}")
        rig.grab()
        titles = [i.title for m in rig.said[since:] if isinstance(m, DisplayWindows) for i in m.windows]
        assert f"number {number}" in titles


def test_a_remapped_window_is_seen_anew(rig: CaptureRig, painter: Painter, under: Any, over: Any) -> None:
    """Unmapped and mapped within one look at the windows: the old pixmap would be stale for ever."""
    source = follow(rig, under)
    rig.grab(source)
    under.unmap()
    under.change_attributes(background_pixel=WHITE)
    under.map()
    painter.connection.sync()
    rig.windows_where(lambda w: [i.visibility for i in w.windows if i.window_id == under.id] == ["covered"])
    while source not in rig.rings or not (pixels_of_now(rig, source) == colour(WHITE)).all():
        rig.take()


def test_a_burst_of_changes_is_few_snapshots(rig: CaptureRig, painter: Painter) -> None:
    window = painter.window(UNDER, RED, "one")
    for step in range(300):
        window.configure(x=step)
    painter.connection.sync()
    told = rig.windows_where(lambda w: [i.bounds.x for i in w.windows] == [299])
    assert told.windows[0].bounds.y == UNDER.y
    assert len([m for m in rig.said if isinstance(m, DisplayWindows)]) < 30
