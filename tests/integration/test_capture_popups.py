"""What lies over a window and how: popups, dialogs, odd shapes, edges; its own pixels stay whole and its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from Xlib.ext import shape

from acud.protocol.capture import DisplayWindows, Notice, SourceHello
from acud.types import Rect, WindowInfo
from tests.integration.capture_rig import CaptureRig
from tests.integration.painter import BLUE, GREEN, RED, Painter, Pixels, plain
from tests.integration.xserver import XServer

UNDER = Rect(20, 20, 200, 120)


@pytest.fixture
def rig(xserver: XServer, painter: Painter) -> Iterator[CaptureRig]:
    with CaptureRig(xserver) as rig:
        yield rig


@pytest.fixture
def under(painter: Painter) -> Any:
    return painter.window(UNDER, RED, "under")


def follow(rig: CaptureRig, window: Any) -> str:
    """Follow `window`, and return the name of its source once its ring is asked for."""
    since = len(rig.said)
    rig.follow(window.id)
    hello = rig.until(lambda m: isinstance(m, SourceHello) and m.window_id == window.id, since)
    return str(hello.source)


def pixels_of(rig: CaptureRig, source: str) -> Pixels:
    rig.grab(source)
    with rig.reader(source) as reader, reader.newest() as view:
        return plain(view.copy())


def colour(value: int) -> tuple[int, int, int, int]:
    return value & 255, value >> 8 & 255, value >> 16, 0


def info(told: DisplayWindows, window: Any) -> WindowInfo:
    return next(one for one in told.windows if one.window_id == window.id)


def seen(rig: CaptureRig, window: Any, visibility: str) -> WindowInfo:
    """Return the window once it is told with this visibility."""
    found = rig.windows_where(lambda w: any(i.window_id == window.id and i.visibility == visibility for i in w.windows))
    return info(found, window)


def test_a_parent_under_its_dialog_is_whole(
    xserver: XServer, rig: CaptureRig, painter: Painter, tmp_path: Path
) -> None:
    # Windows that are there before it serves are put into frames later; what asks to be mapped while it starts may wait
    # until the next thing happens on the display.
    serves = tmp_path / "serves"
    xserver.launch("openbox", "--sm-disable", "--startup", f"touch {serves}")
    while not serves.exists():
        time.sleep(0.02)
    parent = painter.window(Rect(50, 50, 300, 200), RED, "parent")
    seen(rig, parent, "full")
    dialog = painter.window(Rect(100, 100, 120, 60), BLUE, "dialog")
    atom = painter.connection.wire.get_atom
    dialog.change_property(atom("WM_TRANSIENT_FOR"), atom("WINDOW"), 32, [parent.id])
    painter.connection.sync()
    rig.windows_where(lambda w: {(i.title, i.kind, i.owner) for i in w.windows} == {
        ("parent", "normal", 0), ("dialog", "dialog", parent.id)
    })  # fmt: skip
    dialog.configure(x=100, y=100)
    painter.connection.sync()
    seen(rig, parent, "covered")
    pixels = pixels_of(rig, follow(rig, parent))
    assert pixels.shape == (200, 300, 4)
    assert (pixels == colour(RED)).all()


def test_a_window_that_comes_while_the_window_manager_starts_is_shown(
    xserver: XServer, rig: CaptureRig, painter: Painter
) -> None:
    """openbox has read that it is to show it, and would sleep on that until the next event."""
    xserver.launch("openbox", "--sm-disable")
    named = painter.connection.wire.get_atom("_NET_SUPPORTING_WM_CHECK")
    while painter.root.get_full_property(named, 0) is None:
        pass
    seen(rig, painter.window(UNDER, RED, "early"), "full")


def test_a_shaped_window_covers_and_is_covered(rig: CaptureRig, painter: Painter, under: Any) -> None:
    round_one = painter.window(Rect(60, 40, 100, 60), BLUE, "shaped")
    round_one.shape_rectangles(shape.SO.Set, shape.SK.Bounding, 0, 0, 0, [
        {"x": 0, "y": 0, "width": 20, "height": 60}, {"x": 80, "y": 0, "width": 20, "height": 60}
    ])  # fmt: skip
    painter.connection.sync()
    seen(rig, under, "covered")
    assert (pixels_of(rig, follow(rig, under)) == colour(RED)).all()
    under.raise_window()
    painter.connection.sync()
    seen(rig, round_one, "covered")
    pixels = pixels_of(rig, follow(rig, round_one))
    assert (pixels[:, :20] == colour(BLUE)).all()
    assert (pixels[:, 80:] == colour(BLUE)).all()


def test_a_covered_window_that_grows_has_a_ring_of_its_size(rig: CaptureRig, painter: Painter, under: Any) -> None:
    painter.window(Rect(0, 0, 400, 300), BLUE, "over")
    source = follow(rig, under)
    rig.grab(source)
    since = len(rig.said)
    under.configure(width=260, height=150)
    painter.connection.sync()
    hello = rig.until(lambda m: isinstance(m, SourceHello) and m.source == source, since)
    assert (hello.width, hello.height) == (260, 150)
    assert pixels_of(rig, source).shape == (150, 260, 4)
    painter.fill(Rect(230, 130, 10, 10), GREEN, under)
    rig.demand(60, source)
    rig.until(lambda m: isinstance(m, Notice) and m.source == source)
    assert (pixels_of(rig, source)[130:140, 230:240] == colour(GREEN)).all()
