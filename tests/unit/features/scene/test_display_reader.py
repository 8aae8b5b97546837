"""What a look reads, and what a scene of one display tells: a screen that stands still is read once, and a display
tells of itself alone.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from acud.base.errors import StoreUnavailable
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.assembly import (
    DisplayFacts,
    Moment,
    ShownDisplay,
    assemble_scene,
    find_focused_window,
    make_apps,
    select_displays,
)
from acud.features.scene.supervisor.display_reader import DisplayElements, DisplayReader
from acud.protocol.evaluation import Job, JobResult
from acud.protocol.questions import Hide, View
from acud.protocol.scene_parts import NodePart, SceneParts, TextPart
from acud.supervisor.coroutines import Callback, raise_fault
from acud.supervisor.frame_sources import Source
from acud.supervisor.job_queues import FillJob, Lane
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, HiddenBox, Rect, WindowInfo
from acud.types.scene import ProviderState, Scene, SceneMode
from tests.fixtures.manual_clock import ManualClock
from tests.unit.features.scene.test_display_elements import reserved_numbers, standing_elements

READY = ProviderState("reader", "ready")
BOX = Rect(0, 0, 20, 10)


class Rig:
    """A display that stands still; each look grabs it and finds the frame of before."""

    def __init__(self, **settings: Any) -> None:
        self.clock = ManualClock()
        self.settings = SceneSettings(**settings)
        self.screen = WatchedDisplay(":7", 3, managed=False, auth_file="")
        self.screen.state = DisplayState.UP
        self.source = Source(":7", ":7", 0, cast("Any", None))
        self.source.path, self.source.up, self.source.epoch, self.source.frame = cast("Any", "ring"), True, 1, 5
        self.made_s = self.clock.monotonic_s()
        self.hide: Hide | None = None
        self.nodes: tuple[NodePart, ...] = ()
        self.jobs: list[Job] = []
        self.fails = False
        self.sources = self.frame_requests = cast("Any", self)
        self.pool = SimpleNamespace(look=self.read)
        self.by_name = {":7": self.source}
        self.unpainted, self.new_windows = cast("Any", self), frozenset[int]()
        self.seen = DisplayElements(3, reserved_numbers(), standing_elements())
        self.reader = DisplayReader(cast("Any", self), self.screen, self.seen)

    def now_s(self) -> float:
        return self.clock.monotonic_s()

    def grab(self, source: Source, done: Any) -> None:
        source.compared_mono_ns = int(self.now_s() * 1e9)
        done(source)

    def find(self, screen: WatchedDisplay) -> frozenset[int]:
        return self.new_windows

    def hidden(self, source: Source) -> Hide | None:
        return self.hide

    def looked(self, reader: DisplayReader) -> None:
        """A scene is made of it."""

    def read(self, lane: Lane, source: Source, fill: FillJob) -> Callback[JobResult]:
        job = cast("Job", fill(Job("job", View(":7"), "ring", 1, 5)))
        self.jobs.append(job)
        ocr = ProviderState("reader", "unavailable", "crashed") if self.fails else READY
        parts = SceneParts(ocr=ocr if job.scene.ocr else None, ax=READY if job.scene.ax else None, nodes=self.nodes)
        if job.scene.ocr and not self.fails:
            parts = SceneParts(
                ocr=READY, ax=parts.ax, nodes=self.nodes, lines=(TextPart("Save", BOX, 0.9),), lines_total=1
            )
        at_ns = int(self.made_s * 1e9)
        result = JobResult("job", "done", epoch=1, frame=self.source.frame, frame_mono_ns=at_ns, scene=parts)
        return Callback(lambda resume: resume(result))

    def look(self, mode: SceneMode = SceneMode.ACTIVE, after_s: float = 1.0) -> None:
        self.clock.advance(after_s)
        self.reader.look(mode).begin(lambda _: None)

    @property
    def readings(self) -> list[bool]:
        """For each time that the text was read, whether everything was searched anew."""
        return [job.scene.fresh for job in self.jobs if job.scene is not None and job.scene.ocr]


def test_a_screen_that_stands_still_is_read_once_however_long_it_is_looked_at() -> None:
    rig = Rig()
    for _ in range(300):
        rig.look()
    assert rig.readings == [False]
    assert [one.text for one in rig.seen.texts] == ["Save"]
    rig.source.frame, rig.made_s = 6, rig.now_s()
    rig.look()
    assert rig.readings == [False, False]


def test_a_scene_that_cannot_be_made_ends_the_looks_with_the_fault_and_the_next_is_looked_at() -> None:
    rig, outcomes = Rig(), []
    rig.looked = lambda _: raise_fault(StoreUnavailable("the disk is full"))
    rig.reader.look(SceneMode.ACTIVE).begin(outcomes.append)
    rig.looked = lambda _: None
    rig.reader.look(SceneMode.ACTIVE).begin(outcomes.append)
    assert [str(one) for one in outcomes] == ["the disk is full", "None"]


def test_who_asks_for_everything_anew_gets_it() -> None:
    rig = Rig()
    rig.look()
    rig.look(SceneMode.AGENT_TURN, after_s=100)
    assert rig.readings == [False, True]


def test_text_that_the_screen_showed_just_now_stays_as_stale_when_it_cannot_be_read_again() -> None:
    rig = Rig(ocr_ttl_s=30)
    rig.look()
    rig.look(after_s=600)
    rig.fails = True
    rig.look(SceneMode.AGENT_TURN)
    assert (rig.seen.ocr.state, len(rig.seen.texts)) == ("stale", 1)
    rig.look(SceneMode.AGENT_TURN, after_s=31)
    assert (rig.seen.ocr.state, len(rig.seen.texts)) == ("unavailable", 0)


def test_texts_under_a_window_that_is_not_painted_yet_are_left_out_and_read_again() -> None:
    rig = Rig()
    rig.screen.windows = (WindowInfo(2, "Fresh", BOX), WindowInfo(1, "Editor", BOX))
    rig.new_windows = frozenset({2})
    rig.look()
    assert (rig.seen.texts, rig.seen.ocr.state) == ((), "incomplete")
    assert rig.seen.ocr.reason == "lines left out under a window that is not painted yet: 1"
    rig.new_windows = frozenset()
    rig.look()
    assert ([one.text for one in rig.seen.texts], rig.seen.ocr.state) == (["Save"], "ready")


def test_the_same_pixels_are_read_again_once_other_places_are_hidden() -> None:
    rig = Rig()
    rig.look()
    rig.hide = Hide((HiddenBox("window", BOX),), frame=5)
    rig.look()
    rig.hide = Hide((HiddenBox("window", BOX),), frame=6)
    rig.look()
    assert len(rig.readings) == 2
    rig.hide = None
    rig.look()
    assert len(rig.readings) == 3


def test_a_password_field_that_is_learnt_of_later_has_its_text_read_again() -> None:
    rig = Rig(ax_max_age_s=5)
    rig.look()
    field = NodePart("password text", BOX, key="a", secure=True)
    rig.nodes = (field,)
    rig.look(after_s=6)  # only the widgets are read
    assert len(rig.readings) == 1
    rig.look()
    assert len(rig.readings) == 2
    rig.nodes = ()
    for _ in range(20):
        rig.look()
    assert len(rig.readings) == 2


# ---- one display's part --------------------------------------------------------------------------------------------


def _screen(number: int, *windows: WindowInfo, focus: int = 0) -> WatchedDisplay:
    screen = WatchedDisplay(f":{number}", number, managed=True, auth_file="")
    screen.state, screen.windows, screen.focused = DisplayState.UP, windows, focus
    return screen


def _title(screen: WatchedDisplay, window: WindowInfo) -> str:
    return window.title


def _scene(*shown: ShownDisplay, totals: dict[int, int] | None = None) -> Scene:
    known = []
    for one in shown:
        seen = DisplayElements(one.watched.number, reserved_numbers(), standing_elements())
        parts = SceneParts(
            ocr=READY, lines=(TextPart("Save", BOX, 0.9),), lines_total=(totals or {}).get(seen.number, 1)
        )
        seen.take_reading(JobResult("job", "done", epoch=1, frame=1), parts, (100, 100), 1.0)
        is_default = one.watched.number == 1
        known.append(DisplayFacts(one.watched, None, seen, is_default, find_focused_window(one.watched, _title)))
    return assemble_scene(1, Moment(1.0, 1, SceneMode.ACTIVE), known, make_apps(shown, _title))


def test_each_display_tells_its_own_focus() -> None:
    one = _screen(1, WindowInfo(0xA, "first", BOX, pid=0), focus=0xA)
    two = _screen(2, WindowInfo(0xB, "second", BOX, pid=0), focus=0xB)
    whole = _scene(ShownDisplay(one), ShownDisplay(two))
    assert whole.focused_window is not None
    assert whole.focused_window.title == "first"
    assert [d.focused_window.title for d in whole.displays if d.focused_window is not None] == ["first", "second"]
    part = select_displays(whole, frozenset({2}))
    assert part.focused_window is not None
    assert part.focused_window.title == "second"


@pytest.mark.parametrize(("number", "cut"), [(1, None), (2, (5000, 1))])
def test_a_scene_of_one_display_tells_what_was_left_out_of_it(number: int, cut: tuple[int, int] | None) -> None:
    whole = _scene(ShownDisplay(_screen(1)), ShownDisplay(_screen(2)), totals={2: 5000})
    assert whole.truncation is not None
    assert whole.truncation.ocr == (5001, 2)
    part = select_displays(whole, frozenset({number}))
    assert (part.truncation.ocr if part.truncation is not None else None) == cut
