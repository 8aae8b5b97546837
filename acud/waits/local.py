"""The leaves that the supervisor answers itself, over windows and tiles, for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from acud.types import Answer, Change, Leaf, Stable, Text, Verdict, WindowTitle, no, unknown, yes
from acud.waits.absence import with_absence
from acud.waits.conditions import is_local
from acud.waits.panes import judge_pane
from acud.waits.sight import Sight
from acud.waits.titles import judge_titles
from acud.waits.wait import AIMING, Flight, Wait


def known(wait: Wait) -> dict[int, Verdict]:
    """Return what is known now without a judge: local leaves, and every pixel leaf while the target is missing."""
    verdicts = ((index, _now(wait, index, leaf)) for index, leaf in enumerate(wait.leaves))
    return {index: verdict for index, verdict in verdicts if verdict is not None}


def _now(wait: Wait, index: int, leaf: Leaf) -> Verdict | None:
    if isinstance(leaf, WindowTitle):
        return (
            wait.windows_missing
            if wait.windows is None
            else with_absence(wait, index, judge_titles(leaf, wait.windows))
        )
    if isinstance(leaf, Text) and wait.pane is not None:
        return with_absence(wait, index, judge_pane(leaf, wait.pane))
    sight = wait.in_view
    if sight is None:
        return wait.missing or AIMING
    if index in wait.beyond:
        return unknown("budget", wait.word.spent)
    if isinstance(leaf, Change):
        return changed(sight, index, leaf)
    return stable(sight, leaf.stable_s) if isinstance(leaf, Stable) else None


def changed(sight: Sight, index: int, leaf: Change) -> Verdict:
    """Return whether the target changed since the leaf's baseline, and settled if that was asked."""
    if sight.changes[index].held is None:
        return no(_too_little(sight, index, leaf))
    words = _how(sight, index)
    if leaf.settle_s and not quiet_for(sight, leaf.settle_s):
        return no(f"{words}, but it has not settled for {leaf.settle_s:g} s yet")
    return yes(words)


def _how(sight: Sight, index: int) -> str:
    doubt = sight.changes[index].doubt or sight.changes[index].unsure
    if doubt:
        return f"it counts as changed, for it could not be compared with its baseline: {doubt}"
    return f"changed tiles cover {sight.share(index):.1%} of the target"


def _too_little(sight: Sight, index: int, leaf: Change) -> str:
    if not sight.changes[index].touched:
        return "the target has not changed since the baseline"
    return f"changed tiles cover {sight.share(index):.1%} of the target, {leaf.share:.1%} is asked"


def stable(sight: Sight, stable_s: float) -> Verdict:
    """Return whether nothing changed for `stable_s`, up to the newest compared grab."""
    if quiet_for(sight, stable_s):
        return yes(f"nothing in the target changed for {stable_s:g} s")
    return no(f"the target has not been unchanged for {stable_s:g} s yet")


def quiet_for(sight: Sight, seconds: float) -> bool:
    """Tell whether the newest grab found the target as it was `seconds` before."""
    return sight.maybe is None and sight.grabbed_at >= sight.quiet_from + seconds


def quiet_spans(wait: Wait) -> Iterator[tuple[int, float]]:
    """Yield the leaves that ask for quiet, and for how long; a change that has not come yet asks for none."""
    for index, leaf in enumerate(wait.leaves):
        if isinstance(leaf, Stable):
            yield index, leaf.stable_s
        elif isinstance(leaf, Change) and leaf.settle_s and wait.sight and wait.sight.changes[index].held is not None:
            yield index, leaf.settle_s


def known_on(wait: Wait, flight: Flight, frame: int) -> dict[int, Verdict]:
    """Return the local verdicts that held on the frame a job judged: as dispatched, put right where frames tell.

    A change is known frame by frame. Quiet seen at the dispatch is void when the judged frame changed the target again.
    """
    return {index: _then(wait, index, verdict, flight, frame) for index, verdict in flight.due.known.items()}


def _then(wait: Wait, index: int, verdict: Verdict, flight: Flight, frame: int) -> Verdict:
    leaf, sight = wait.leaves[index], wait.in_view
    if not is_local(leaf) or isinstance(leaf, WindowTitle) or sight is None:
        return verdict
    quiet = isinstance(leaf, Stable) or (isinstance(leaf, Change) and leaf.settle_s > 0)
    if quiet:
        moved = verdict.answer is Answer.YES and sight.touched_within(flight.frame, frame)
        return no("the target changed again") if moved else verdict
    held = sight.changes[index].held
    return changed(sight, index, leaf) if isinstance(leaf, Change) and held is not None and held <= frame else verdict


def note_of(wait: Wait) -> str:
    """Return what a client should be told about target and budget now, "" when nothing is amiss."""
    missing = wait.missing
    unseen = missing.detail if missing is not None and missing is not AIMING else ""
    return "; ".join(filter(None, (unseen, wait.word.note)))
