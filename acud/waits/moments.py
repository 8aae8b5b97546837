"""Which frames are of the moment of what windows and terminals say, and whether a yes still holds on its picture.

Window lists and terminal texts are read beside the pixels. A frame is of their moment when they were read before its
grab and, saying the same, after it again: a frame comes after the window list of its moment, and a terminal is read
once more.
"""

from __future__ import annotations

from msgspec.structs import replace

from acud.types import Answer, Change, Leaf, Text, Verdict, WindowTitle
from acud.waits.absence import seen_there
from acud.waits.conditions import evaluate
from acud.waits.events import FrameSeen
from acud.waits.local import known
from acud.waits.wait import Listing, Pending, Wait


def is_told(wait: Wait, leaf: Leaf) -> bool:
    """Tell whether the leaf is answered beside the pixels: from the window list, or from a terminal's text."""
    return isinstance(leaf, WindowTitle) or (isinstance(leaf, Text) and wait.pane is not None)


def told_anew(wait: Wait, at: float) -> Wait:
    """Return the wait after its window list or terminal was told; a yes that this denies is one of frames before."""
    now = known(wait)
    wait = replace(wait, there=seen_there(wait, now))
    answers = {index: now[index].answer for index, leaf in enumerate(wait.leaves) if is_told(wait, leaf)}
    before = wait.listing
    if answers == before.answers:
        return replace(wait, listing=_confirmed(wait, before))
    after = replace(wait, listing=Listing(answers, at, read_at=before.read_at))
    if wait.pending is None or wait.pending.frames is not None or not _denied(after, wait.pending, now):
        return after
    frames = (before.first if before.first is not None else 0, before.last)
    return replace(after, pending=replace(wait.pending, frames=frames))


def _denied(wait: Wait, pending: Pending, now: dict[int, Verdict]) -> bool:
    told = {index: now[index] for index in wait.listing.answers}
    return evaluate(wait.spec.until, {**pending.verdicts, **told}).answer is Answer.NO


def framed(wait: Wait, event: FrameSeen) -> Listing:
    """Return the listing after a notice of the aimed source."""
    listing = wait.listing
    if not listing.answers or wait.sight is None or event.epoch != wait.sight.view.epoch:
        return listing
    if event.grabbed_at < (listing.since if listing.first is None else listing.newest_at):
        return listing
    first = event.frame if listing.first is None else listing.first
    return _confirmed(wait, replace(listing, first=first, newest=event.frame, newest_at=event.grabbed_at))


def _confirmed(wait: Wait, listing: Listing) -> Listing:
    """Take the newest frame as one of this moment, once a terminal was read after it too."""
    reads = any(isinstance(leaf, Text) and is_told(wait, leaf) for leaf in wait.leaves)
    if listing.first is None or (reads and listing.read_at < listing.newest_at):
        return listing
    return replace(listing, last=max(listing.last, listing.newest))


def elsewhere(listing: Listing) -> Listing:
    """Return the listing for another view: its frames are counted anew."""
    return replace(listing, first=None, last=-1, newest=-1, newest_at=float("-inf"))


def is_of_moment(wait: Wait, pending: Pending, frame: int) -> bool | None:
    """Tell whether `frame` was grabbed while windows and terminals said what `pending` says; None: not known yet."""
    if pending.frames is not None:
        return pending.frames[0] <= frame <= pending.frames[1]
    listing = wait.listing
    if not listing.answers:
        return True
    if listing.first is None:
        return None
    if frame < listing.first:
        return False
    return True if frame <= listing.last else None


def held_on(wait: Wait, pending: Pending, frame: int, identity: str) -> Verdict:
    """Return the verdict of `pending` on a frame of its moment that was pictured later, the target looking so.

    What was judged, or was quiet, holds there while nothing touched the target in between, or it looks the same.
    """
    sight = wait.in_view
    same_look = bool(identity) and identity == pending.identity
    moved = sight is not None and not same_look and sight.touched_within(pending.frame, frame)
    now = known(wait) if pending.frames is None else {}
    verdicts: dict[int, Verdict] = {}
    for index, leaf in enumerate(wait.leaves):
        if is_told(wait, leaf) and index in now:
            verdicts[index] = now[index]
        elif index in pending.verdicts and not (moved and _is_of_frame(leaf)):
            verdicts[index] = pending.verdicts[index]
    return evaluate(wait.spec.until, verdicts)


def _is_of_frame(leaf: Leaf) -> bool:
    """Tell whether an answer stands for one frame; a change that has come stays one."""
    return not isinstance(leaf, Change | WindowTitle) or (isinstance(leaf, Change) and leaf.settle_s > 0)
