"""A scene that is asked for is answered in time: what was not read by then is old, or unknown, and says why."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

from acud.event_loop import EventLoop
from acud.features.scene.annotations import DisplayAnnotation
from acud.features.scene.settings import SceneSettings
from acud.features.scene.supervisor.service import Scenes
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import DisplayState
from acud.types.scene import SceneMode
from tests.manual_clock import ManualClock
from tests.unit.features.scene.test_display_elements import reserved_numbers, standing_elements


def test_a_reading_that_takes_too_long_is_not_waited_for() -> None:
    loop, given = EventLoop(time.monotonic), MagicMock()
    watched = WatchedDisplay(":7", 3, managed=False, auth_file="")
    watched.state = DisplayState.UP
    given.watched_displays.by_name = {":7": watched}
    given.sources.by_name = {":7": MagicMock(live=True)}
    given.annotations.of.return_value = DisplayAnnotation()
    scenes = Scenes(
        given.pool, given.watched_displays, given.sources, given.frame_requests, given.displays, given.redaction,
        given.journal, ManualClock(), loop, SceneSettings(), set, reserved_numbers(), standing_elements(),
        given.annotations,
    )  # fmt: skip
    asked: list[Callable[[], None]] = []
    scenes.reader(watched).ask = lambda mode, done: asked.append(done)  # type: ignore[method-assign]
    done: list[Any] = []

    def answer() -> None:
        done.append(scenes.reader(watched).seen.providers)
        loop.stop()

    scenes.look([watched], SceneMode.AGENT_TURN, answer, 0.01)
    loop.run()
    assert (done[0].ocr.state, done[0].ocr.reason) == ("unavailable", "not read within 0.01 s; the reading goes on")
    asked[0]()
    assert len(done) == 1
