"""A target that nobody can know yet is waited for; what is known not to be there is told at once."""

from types import SimpleNamespace
from typing import Any, cast

from acud.base.errors import AcudError, DisplayDown, NotFound, Unavailable
from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import run_steps
from acud.supervisor.fresh_frames import FreshFrameResolver, FreshTarget, WindowListReady
from acud.supervisor.observers import Observers
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, MonitorInfo, Rect
from acud.waits.targets import parse_target
from tests.fixtures.manual_clock import ManualClock

WHOLE = Rect(0, 0, 640, 480)


class _Rig:
    """A display that is up and has a frame; its windows are listed when told."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.loop = EventLoop(self.clock.monotonic_s)
        self.screen = WatchedDisplay(":7", 1, managed=False, auth_file="")
        self.screen.state = DisplayState.UP
        self.source = SimpleNamespace(name=":7", up=True, width=640, height=480, window_id=0)
        displays = SimpleNamespace(find_display=self._find_display)
        sources = SimpleNamespace(by_name={":7": self.source}, watchers=Observers())
        grabs = SimpleNamespace(grab=lambda source, done: done(source))
        screens: Any = SimpleNamespace(watchers=Observers(), follow=lambda watched, key, windows: None)
        self.window_list_ready = WindowListReady(screens, self.loop)
        parts = cast(Any, (displays, screens, sources, grabs, self.loop, None, self.window_list_ready))
        self.fresh_frames = FreshFrameResolver(*parts)
        self.said: list[FreshTarget | AcudError] = []

    async def _find_display(self, name: str) -> WatchedDisplay:
        return self.screen

    def aim(self, target: str) -> None:
        run_steps(self.fresh_frames.find(parse_target(target, ":7")), self.said.append)

    def listed(self, *monitors: MonitorInfo) -> None:
        self.screen.windows_known, self.screen.monitors = True, monitors
        self.window_list_ready.windows_seen(self.screen)
        self.fresh_frames.windows_seen(self.screen)


def test_the_whole_display_needs_no_list() -> None:
    rig = _Rig()
    rig.aim("screen")
    assert isinstance(rig.said[0], FreshTarget)


def test_a_monitor_is_looked_for_in_the_first_list() -> None:
    rig = _Rig()
    rig.aim("monitor:left")
    assert rig.said == []
    rig.listed(MonitorInfo("left", WHOLE))
    [found] = rig.said
    assert isinstance(found, FreshTarget)
    assert found.picture.crop in {WHOLE, None}


def test_what_is_not_in_the_list_is_told_with_what_is() -> None:
    rig = _Rig()
    rig.aim("monitor:HDMI-9")
    rig.listed(MonitorInfo("screen", WHOLE))
    [fault] = rig.said
    assert isinstance(fault, NotFound)
    assert "monitors there: screen" in fault.message
    rig.aim("window:Editor")
    assert isinstance(rig.said[1], NotFound)


def test_a_list_that_does_not_come_is_no_absence() -> None:
    rig = _Rig()
    rig.aim("window:Editor")
    rig.clock.advance(5.1)
    rig.loop.turn(0.0)
    [fault] = rig.said
    assert isinstance(fault, Unavailable)
    assert "no list of the windows of :7" in fault.message


def test_pixels_that_do_not_come_are_told_with_what_to_do() -> None:
    rig = _Rig()
    rig.source.up = False
    rig.aim("screen")
    rig.clock.advance(5.1)
    rig.loop.turn(0.0)
    [fault] = rig.said
    assert isinstance(fault, Unavailable)
    assert "no pixels of" in fault.message
    assert "ask again" in fault.hint


def test_a_display_that_goes_down_meanwhile_is_told_as_down() -> None:
    rig = _Rig()
    rig.aim("window:Editor")
    rig.screen.state, rig.screen.reason = DisplayState.DOWN, "the X server ended"
    rig.clock.advance(5.1)
    rig.loop.turn(0.0)
    [fault] = rig.said
    assert isinstance(fault, DisplayDown)
    assert "the X server ended" in fault.message
