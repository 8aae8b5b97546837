"""A picture of one display with the ids of its elements drawn in, of the frame that its scene shows."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from acud.errors import AcudError, DisplayDown
from acud.protocol.asks import PictureAsk
from acud.protocol.requests.looks import Picture
from acud.scene.marks import marks_of
from acud.scene.nouns import Scene
from acud.supervisor.app import App
from acud.supervisor.screens import Screen
from acud.supervisor.screenshots import ScreenshotTarget


class Marked(Struct, frozen=True):
    """The picture, and how many elements have no mark for want of room."""

    picture: Picture
    left_out: int


class Marking:
    """Draws the marks of `scene` on a picture of `screen`, redacted as the scene is."""

    def __init__(self, app: App, screen: Screen, scene: Scene, max_side_px: int) -> None:
        self._app = app
        self._screen = screen
        self._scene = scene
        self._max_side_px = max_side_px

    def draw(self, done: Callable[[Marked | AcudError], None]) -> None:
        """Call `done` with the picture, or the fault."""
        source = self._app.sources.by_name.get(self._screen.name)
        shown = next((one for one in self._scene.displays if one.id == self._screen.number), None)
        if source is None or shown is None or not shown.frame:
            reason = self._screen.reason or "nobody has looked at it yet"
            done(DisplayDown(f"no picture of {self._screen.name}: {reason}", hint="ask with a mode that looks"))
            return
        marks = marks_of(self._scene, self._screen.number)
        ask = PictureAsk(
            "png",
            self._max_side_px,
            redacted=True,
            marks=marks.marks,
            secure=self._app.scenes.secure(self._screen),
            of_scene=(shown.epoch, shown.frame),
        )

        def taken(outcome: Picture | AcudError) -> None:
            done(outcome if isinstance(outcome, AcudError) else Marked(outcome, marks.left_out))

        self._app.screenshots.take(ScreenshotTarget(source, None, screen=(source.width, source.height)), ask, taken)
