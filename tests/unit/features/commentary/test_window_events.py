"""Which window is in front, as events: once for each, never more often than the pause, and never the older state."""

from typing import Any, cast

from acud.features.commentary.supervisor.senses import WINDOW_PAUSE_S, SenseOutput, WindowEvents
from acud.process.event_loop import EventLoop
from acud.supervisor.observers import Observers
from acud.supervisor.watched_displays import WatchedDisplay, WatchedDisplays
from acud.types import Rect, WindowInfo
from acud.types.commentary import SenseEvent
from tests.fixtures.manual_clock import ManualClock

BOX = Rect(0, 0, 10, 10)
HIDDEN = "[REDACTED_WINDOW]"


class _Screens:
    """The members of `WatchedDisplays` that sensing uses."""

    def __init__(self) -> None:
        self.by_name: dict[str, WatchedDisplay] = {}
        self.watchers = Observers[Any]()
        self.removed = Observers[Any]()


class _Rig:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.loop = EventLoop(self.clock.monotonic_s)
        self.screens = _Screens()
        self.told: list[SenseEvent] = []
        self.wanted = True
        self.hidden: set[int] = set()
        self.sensing = WindowEvents(
            cast("WatchedDisplays", self.screens),
            SenseOutput(
                self.loop,
                self.clock,
                lambda: self.wanted,
                lambda screen, window: HIDDEN if window.window_id in self.hidden else window.title,
                self.told.append,
            ),
        )
        self.screen = WatchedDisplay(":7", 3, managed=False, auth_file="")
        self.screens.by_name[":7"] = self.screen

    def front(self, number: int, title: str, app: str = "") -> None:
        self.screen.windows = (WindowInfo(9, "behind", BOX), WindowInfo(number, title, BOX, wm_class=app))
        self.screen.focused = number
        self.sensing.windows_seen(self.screen)

    def after(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.loop.turn(0.0)

    @property
    def seen(self) -> list[tuple[str, str]]:
        return [(event.meta.app, event.meta.windowTitle) for event in self.told]


def test_a_switch_is_told_once() -> None:
    rig = _Rig()
    rig.front(1, "notes.txt", "Editor")
    rig.front(1, "notes.txt", "Editor")
    [event] = rig.told
    assert (event.type, event.source, event.meta.screen, event.meta.app) == ("context", "acud", 3, "Editor")
    rig.after(WINDOW_PAUSE_S)
    rig.front(2, "~ zsh")
    assert rig.seen == [("Editor", "notes.txt"), ("~ zsh", "~ zsh")]


def test_a_counter_in_a_title_is_no_other_context_a_new_title_is() -> None:
    rig = _Rig()
    rig.front(1, "Inbox (3) - Mail", "Mail")
    rig.after(WINDOW_PAUSE_S)
    rig.front(1, "Inbox (4) - Mail", "Mail")
    assert len(rig.told) == 1
    rig.front(1, "Re: the contract of Friday", "Mail")
    assert len(rig.told) == 2


def test_a_storm_of_switches_tells_the_last_one_after_the_pause() -> None:
    rig = _Rig()
    for number in range(1, 100):
        rig.front(number, f"window {number} {'x' * number}")
    assert len(rig.told) == 1
    rig.after(WINDOW_PAUSE_S)
    assert [title.split()[1] for _, title in rig.seen] == ["1", "99"]
    rig.after(10 * WINDOW_PAUSE_S)
    assert len(rig.told) == 2


def test_nothing_is_told_that_nobody_wants_and_all_when_somebody_does() -> None:
    rig = _Rig()
    rig.wanted = False
    rig.front(1, "notes.txt", "Editor")
    assert rig.told == []
    rig.wanted = True
    rig.sensing.look()
    assert rig.seen == [("Editor", "notes.txt")]


def test_a_focus_that_is_nowhere_is_no_context() -> None:
    rig = _Rig()
    rig.screen.windows = (WindowInfo(9, "behind", BOX),)
    rig.sensing.windows_seen(rig.screen)
    assert rig.told == []


def test_a_window_that_a_rule_names_has_no_title() -> None:
    rig = _Rig()
    rig.hidden.add(4)
    rig.front(4, "Account 12-345", "Bank")
    assert rig.seen == [("Bank", HIDDEN)]


def test_a_display_that_went_in_the_pause_is_not_looked_at() -> None:
    rig = _Rig()
    rig.front(1, "one", "One")
    rig.front(2, "two", "Two")
    del rig.screens.by_name[":7"]
    rig.after(WINDOW_PAUSE_S)
    assert rig.seen == [("One", "one")]


def test_nothing_is_kept_of_a_display_that_was_removed() -> None:
    rig = _Rig()
    rig.front(1, "notes.txt", "Editor")
    del rig.screens.by_name[":7"]
    for told in rig.screens.removed:
        told(rig.screen)
    rig.front(1, "notes.txt", "Editor")
    assert rig.seen == [("Editor", "notes.txt")] * 2
