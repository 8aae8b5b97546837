"""A window that is on the screen before its program has painted it shows what is beneath."""

from typing import Any
from unittest.mock import MagicMock

from acud.features.scene.supervisor.unpainted_windows import UnpaintedWindows, is_beneath
from acud.protocol.scene_parts import TextPart
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Rect, WindowInfo
from acud.waits.tiles import Grid, TileHistory

GRID = Grid(640, 480)
OLD = WindowInfo(1, "Editor", Rect(0, 0, 400, 300))
NEW = WindowInfo(2, "Fresh", Rect(100, 100, 200, 100))


class World:
    """A display whose frames and windows a test decides."""

    def __init__(self) -> None:
        self.now_s, self.frame, self.history = 0.0, 1, TileHistory()
        self.history.record(1, None)
        self.source = MagicMock(width=640, height=480, up=True, frame=1)
        targets: Any = MagicMock()
        targets.make_token.side_effect = lambda source, frame: f"{frame}"
        targets.changed_since.side_effect = lambda source, token: self.history.since(int(token))
        sources: Any = MagicMock(by_name={":1": self.source})
        self.unpainted = UnpaintedWindows(MagicMock(), sources, targets, MagicMock(monotonic_s=lambda: self.now_s))
        self.watched = WatchedDisplay(":1", 1, managed=True, auth_file="")

    def list_windows(self, *windows: WindowInfo) -> None:
        self.watched.windows = windows
        self.unpainted.windows_seen(self.watched)

    def paint(self, box: Rect) -> None:
        self.source.frame += 1
        self.history.record(self.source.frame, GRID.find_touching(box))

    def find(self) -> set[int]:
        return set(self.unpainted.find(self.watched))


def test_a_new_window_is_painted_once_a_pixel_in_it_has_changed() -> None:
    world = World()
    world.list_windows(OLD)
    assert world.find() == set(), "what was there first is not new"
    world.list_windows(NEW, OLD)
    assert world.find() == {2}
    world.paint(Rect(400, 300, 50, 50))
    assert world.find() == {2}
    world.paint(Rect(120, 120, 10, 10))
    assert world.find() == set()
    world.paint(NEW.bounds)
    world.list_windows(OLD)
    world.list_windows(NEW, OLD)
    assert world.find() == {2}, "it came anew"


def test_what_changed_before_it_came_does_not_paint_it() -> None:
    world = World()
    world.list_windows(OLD)
    world.paint(NEW.bounds)
    world.list_windows(NEW, OLD)
    assert world.find() == {2}


def test_a_window_that_paints_nothing_lets_those_beneath_show_through() -> None:
    world = World()
    world.list_windows(OLD)
    world.list_windows(NEW, OLD)
    world.now_s = 16.0
    assert world.find() == set()


def test_only_texts_under_it_are_of_those_beneath() -> None:
    above = WindowInfo(3, "Above", Rect(100, 100, 50, 50))
    inside, beside, higher = (TextPart("x", Rect(x, y, 10, 10), 1.0) for x, y in ((200, 150), (20, 20), (110, 110)))
    windows, new = (above, NEW, OLD), frozenset({2})
    assert [is_beneath(one, windows, new) for one in (inside, beside, higher)] == [True, False, False]
    assert not is_beneath(inside, (NEW,), new), "it took the place of a window like it"
