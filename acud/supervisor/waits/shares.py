"""How much of a target changed since a baseline, in tiles."""

from __future__ import annotations

from msgspec import Struct

from acud.supervisor.waits.live import Live
from acud.types import Rect, WaitState


class Changed(Struct, frozen=True):
    """`changed`: whether all that was asked for came. `share`: the part of the target covered by changed 16 px tiles.
    `box`: around them, in the target's pixels.
    """

    changed: bool
    share: float
    box: Rect | None


def of(live: Live) -> Changed:
    """Return what changed of the target of `live`, whose condition is one `change`."""
    sight = live.machine.view_state
    if sight is None:
        return Changed(False, 0.0, None)
    view = sight.view
    box = view.grid.box(sight.changes[0].touched, view.box)
    moved = box.moved(-view.box.x, -view.box.y) if box is not None else None
    return Changed(live.state is WaitState.RESOLVED, sight.share(0), moved)
