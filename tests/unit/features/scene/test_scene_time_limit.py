"""A scene that is asked for is answered in time: what was not read by then is old, or unknown, and says why."""

import time
from unittest.mock import MagicMock

from acud.features.scene.annotations import DisplayAnnotation
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.service import Scenes
from acud.process.event_loop import EventLoop
from acud.supervisor.coroutines import Callback, Resume
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState, Rect
from acud.types.scene import OcrElement, ProviderState, SceneMode
from tests.fixtures.manual_clock import ManualClock
from tests.unit.features.scene.test_display_elements import reserved_numbers, standing_elements


class LateScenes:
    """Scenes of one display whose looks are `asked` for and do not end. `told`: how it was read, by answer."""

    def __init__(self) -> None:
        self.loop, given = EventLoop(time.monotonic), MagicMock()
        self.watched = WatchedDisplay(":7", 3, managed=False, auth_file="")
        self.watched.state = DisplayState.UP
        given.watched_displays.by_name = {":7": self.watched}
        given.sources.by_name = {":7": MagicMock(live=True)}
        given.annotations.of.return_value = DisplayAnnotation()
        clock = ManualClock()
        self.now_s = clock.monotonic_s()
        given.clock, given.loop, given.display_pids = clock, self.loop, set
        given.settings.of.return_value = SceneSettings()
        self.scenes = Scenes(given, reserved_numbers(), standing_elements(), given.annotations)
        self.asked: list[Resume[None]] = []
        asked = Callback[None](self.asked.append)
        self.scenes.reader(self.watched).look = lambda mode: asked  # type: ignore[method-assign]
        self.told: list[ProviderState] = []

    def look(self) -> ProviderState:
        def answer(_: object) -> None:
            self.told.append(self.scenes.reader(self.watched).seen.ocr)
            self.loop.stop()

        self.scenes.look([self.watched], SceneMode.AGENT_TURN, 0.01).begin(answer)
        self.loop.run()
        return self.told[-1]


def test_a_first_look_that_takes_too_long_is_not_waited_for() -> None:
    late = LateScenes()
    told = late.look()
    assert told.state == "unavailable"
    assert told.reason == "not read yet: the first look takes longer than 0.01 s and goes on, ask again"
    late.asked[0](None)
    assert len(late.told) == 1


def test_widgets_count_as_read_where_no_text_can_be() -> None:
    late = LateScenes()
    late.scenes.reader(late.watched).seen.ax_at_s = late.now_s - 12.0
    assert late.look().reason.startswith("read 12 s ago")


def test_what_was_read_before_stands_there_with_its_age() -> None:
    late = LateScenes()
    seen = late.scenes.reader(late.watched).seen
    seen.texts = (OcrElement("t3-1", "Report", Rect(0, 0, 9, 9), 1.0, 3),)
    seen.ocr_frame, seen.ocr_at_s = (1, 7), late.now_s - 12.0
    told = late.look()
    assert told.state == "stale"
    assert told.reason.startswith("read 12 s ago, and the screen changed since; it is being read again")
    assert [one.text for one in late.scenes.newest([late.watched]).ocr] == ["Report"]
