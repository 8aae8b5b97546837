"""Many frames taken into a sight at once: what a wait that dozed sees when it is told something again."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from acud.waits.events import FrameSeen
from acud.waits.seeing import seen
from acud.waits.sight import MARKS, Mark, Sight


def caught_up(sight: Sight, frames: Sequence[FrameSeen], *, every_tile: bool, hidden_s: float) -> Sight:
    """Return the sight after `frames`, as `seen` would leave it after each in turn; oldest first."""
    if _certain(sight, frames):
        return _marked(sight, frames, hidden_s)
    for frame in frames:
        sight = seen(sight, frame, every_tile=every_tile, hidden_s=hidden_s)
    return sight


def _certain(sight: Sight, frames: Sequence[FrameSeen]) -> bool:
    """Tell whether each frame is new and surely changed the target, which has no baseline that counts tiles."""
    whole, epoch, newest = sight.view.masks.whole, sight.view.epoch, sight.frame
    if not sight.looked or sight.changes or sight.ahead is not None or not frames:
        return False
    for frame in frames:
        if frame.epoch != epoch or frame.frame <= newest or not frame.tiles or not frame.tiles & whole:
            return False
        newest = frame.frame
    return True


def _marked(sight: Sight, frames: Sequence[FrameSeen], hidden_s: float) -> Sight:
    marks, grabbed_at = list(sight.marks), sight.grabbed_at
    for frame in frames:
        marks.append(Mark(frame.frame, frame.damaged_at or frame.at, max(grabbed_at, frame.grabbed_at - hidden_s)))
        grabbed_at = max(grabbed_at, frame.grabbed_at)
    last = frames[-1]
    return replace(
        sight,
        frame=last.frame,
        grabbed_at=grabbed_at,
        touched_frame=last.frame,
        quiet_from=last.grabbed_at,
        identity="",
        maybe=None,
        wish=False,
        marks=tuple(marks[-MARKS:]),
    )
