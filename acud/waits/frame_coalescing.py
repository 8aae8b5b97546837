"""Frames that a wait takes together, because its next turn is set and more frames would not bring it forward.

A scheduled wait does not need every frame: it has pixels to be judged at its next turn, or asks for quiet on a display
that plays a video. Its frames are kept once for all waits of the source (`ChangeBuffer`), and applied in order before
its next event (`FramesSeen`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from acud.types import Change, GateKind, Stable
from acud.waits.effects import JobKind
from acud.waits.events import FrameSeen
from acud.waits.lifecycle import has_ended
from acud.waits.local_answers import list_quiet_spans
from acud.waits.look_turns import make_basis, open_turns
from acud.waits.model import Wait
from acud.waits.view_state import MARKS, ChangeMark, ViewState
from acud.waits.view_updates import apply_frame

MOST_BEHIND = MARKS // 2
"""A wait gets its batched frames no later than this: a view state remembers `MARKS` changing frames."""


class ChangeBuffer:
    """The newest changing frames of a source, one copy for all waits. `count`: how many there have been in all."""

    def __init__(self) -> None:
        self.count = 0
        self._frames: deque[FrameSeen] = deque(maxlen=MARKS)

    def record(self, frame: FrameSeen) -> None:
        self.count += 1
        self._frames.append(frame)

    def since(self, count: int) -> tuple[FrameSeen, ...]:
        """Return the frames after the first `count`, oldest first."""
        missing = min(self.count - count, len(self._frames))
        return tuple(self._frames)[len(self._frames) - missing :]


def is_relevant(wait: Wait, frame: FrameSeen) -> bool:
    """Return whether a frame can matter to the wait. An identity that overtook the notice of its frame waits for
    whatever notice comes next.
    """
    view_state, tiles = wait.view_state, frame.tiles
    if (
        tiles is None
        or view_state is None
        or not view_state.looked
        or view_state.early_identity is not None
        or wait.gate is GateKind.NONE
    ):
        return True
    return bool((tiles | frame.unsure) & view_state.view.masks.touching)


def can_coalesce(wait: Wait) -> bool:
    """Return whether frames that change known tiles can wait until the wait's next tick, result or other event."""
    view_state = wait.in_view
    if (
        view_state is None
        or has_ended(wait.state)
        or wait.requests.wake_at is None
        or wait.requests.grab_asked is not None
    ):
        return False
    if wait.pending is not None or view_state.blinks is not None:
        return False
    if any(isinstance(leaf, Change) for leaf in wait.leaves):
        return False
    return _lacks_quiet(wait, view_state) and _needs_no_frame_to_judge(wait, view_state)


def _lacks_quiet(wait: Wait, view_state: ViewState) -> bool:
    """Return whether every leaf that asks for quiet still lacks it, and tiles alone show when it is broken again."""
    if not any(isinstance(leaf, Stable) for leaf in wait.leaves):
        return True
    certain = view_state.view.masks.touching == view_state.view.masks.whole
    return (
        certain
        and not view_state.needs_identity
        and all(view_state.grabbed_at < view_state.quiet_from + span for _, span in list_quiet_spans(wait))
    )


def _needs_no_frame_to_judge(wait: Wait, view_state: ViewState) -> bool:
    """Return whether the pixels seen so far will be judged without another frame, or no judge may be asked now."""
    now = make_basis(wait, view_state.grabbed_at)
    if not now.asked or JobKind.JUDGE in wait.requests.jobs:
        return True
    if wait.gate is GateKind.NONE:
        return False
    # A frame may also bring changes that are not paused.
    return any(turn.judge and not turn.force and not turn.paused for turn in open_turns(wait, view_state, now))


def apply_frames(view_state: ViewState, frames: Sequence[FrameSeen], *, every_tile: bool, hidden_s: float) -> ViewState:
    """Return the view state after `frames`, oldest first, as `apply_frame` on each in turn would leave it."""
    if _are_certain(view_state, frames):
        return _mark_frames(view_state, frames, hidden_s)
    for frame in frames:
        view_state = apply_frame(view_state, frame, every_tile=every_tile, hidden_s=hidden_s)
    return view_state


def _are_certain(view_state: ViewState, frames: Sequence[FrameSeen]) -> bool:
    """Return whether each frame is new and surely changed the target, and no baseline counts tiles."""
    whole, epoch, newest = view_state.view.masks.whole, view_state.view.epoch, view_state.frame
    if (
        not view_state.looked
        or view_state.changes
        or view_state.blinks is not None
        or view_state.early_identity is not None
        or not frames
    ):
        return False
    for frame in frames:
        if frame.epoch != epoch or frame.frame <= newest or not frame.tiles or not frame.tiles & whole:
            return False
        newest = frame.frame
    return True


def _mark_frames(view_state: ViewState, frames: Sequence[FrameSeen], hidden_s: float) -> ViewState:
    marks, grabbed_at, touching = list(view_state.marks), view_state.grabbed_at, view_state.view.masks.touching
    for frame in frames:
        tiles = None if frame.tiles is None else frame.tiles & touching
        since = max(grabbed_at, frame.grabbed_at - hidden_s)
        marks.append(ChangeMark(frame.frame, frame.damaged_at or frame.at, since, tiles))
        grabbed_at = max(grabbed_at, frame.grabbed_at)
    last = frames[-1]
    return replace(
        view_state,
        frame=last.frame,
        grabbed_at=grabbed_at,
        touched_frame=last.frame,
        quiet_from=last.shown_by,
        identity="",
        uncertain=None,
        wants_identity=False,
        marks=tuple(marks[-MARKS:]),
    )
