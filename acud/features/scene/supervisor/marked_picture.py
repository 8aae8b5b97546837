"""A picture of one display with the ids of its elements drawn in, of the frame that its scene shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from acud.errors import AcudError, DisplayDown
from acud.features.scene.picture_marks import marks_of
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.looks import Picture
from acud.supervisor.screenshots import ScreenshotTarget
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types.scene import Scene

if TYPE_CHECKING:
    from acud.features.scene.supervisor.feature import SceneFeature


class MarkedPicture(Struct, frozen=True):
    """The picture, and how many elements have no mark for want of room."""

    picture: Picture
    left_out: int


def draw_marked(
    feature: SceneFeature,
    watched: WatchedDisplay,
    scene: Scene,
    max_side_px: int,
    done: Callable[[MarkedPicture | AcudError], None],
) -> None:
    """Draw the marks of `scene` on a picture of `watched`, redacted as the scene is; `done` gets it, or the fault."""
    source = feature.sources.by_name.get(watched.name)
    shown = next((one for one in scene.displays if one.id == watched.number), None)
    if source is None or shown is None or not shown.frame:
        reason = watched.reason or "nobody has looked at it yet"
        done(DisplayDown(f"no picture of {watched.name}: {reason}", hint="ask with a mode that looks"))
        return
    marks = marks_of(scene, watched.number)
    ask = PictureAsk(
        "png",
        max_side_px,
        redacted=True,
        marks=marks.marks,
        secure=feature.scenes.secure(watched),
        of_scene=(shown.epoch, shown.frame),
    )

    def taken(outcome: Picture | AcudError) -> None:
        done(outcome if isinstance(outcome, AcudError) else MarkedPicture(outcome, marks.left_out))

    feature.screenshots.take(ScreenshotTarget(source, None, screen=(source.width, source.height)), ask, taken)
