"""Frames that a judge could not be asked about in time: counted while one is busy, and told with the verdict."""

from __future__ import annotations

from msgspec.structs import replace

from acud.types import Verdict
from acud.waits.effects import DueKind
from acud.waits.wait import Flight, Judging, Wait


def overtaken(wait: Wait, flight: Flight, at: float) -> Judging:
    """Return the judge's side as `flight` comes back: of the frames that came meanwhile only the newest is judged."""
    judging, sight = wait.judging, wait.sight
    if flight.due.kind is not DueKind.JUDGE or flight.generation != wait.generation or sight is None:
        return judging
    after = max(flight.frame, judging.passed_frame)
    frames = [mark.frame for mark in sight.marks if mark.frame > after][:-1]
    if not frames:
        return judging
    busy_s = judging.busy_s + at - flight.at
    return replace(judging, passed=judging.passed + len(frames), passed_frame=frames[-1], busy_s=busy_s)


def asking(wait: Wait, at: float) -> str:
    """Return what is under way at a judge now, "" for nothing."""
    since = [flight.at for flight in wait.aloft(DueKind.JUDGE)]
    if since:
        words = f"a judge is being asked, since {at - min(since):.0f} s"
    elif DueKind.JUDGE in wait.wanted.dues:
        words = "new pixels wait for a free judge"
    else:
        return ""
    return f"{words}; {_frames(_unjudged(wait))}" if _unjudged(wait) else words


def with_backlog(wait: Wait, at: float) -> Verdict:
    """Return the newest verdict, with the frames that nobody could judge by now."""
    since = [flight.at for flight in wait.aloft(DueKind.JUDGE)]
    count = wait.judging.passed + (_unjudged(wait) if since or DueKind.JUDGE in wait.wanted.dues else 0)
    if not count:
        return wait.verdict
    busy_s = wait.judging.busy_s + (at - min(since) if since else 0.0)
    words = f"{_frames(count)}, judge busy {busy_s:.0f} s"
    return replace(wait.verdict, detail="; ".join(filter(None, (wait.verdict.detail, words))))


def _unjudged(wait: Wait) -> int:
    """Return how many frames changed the target after the newest one that a judge has or had in hand."""
    frames = [flight.frame for flight in wait.aloft(DueKind.JUDGE)]
    frames += [wait.judging.passed_frame, wait.judging.cover.frame if wait.judging.cover is not None else -1]
    newest = max(frames)
    return sum(mark.frame > newest for mark in wait.sight.marks) if wait.sight is not None else 0


def _frames(count: int) -> str:
    return f"{count} {'frame' if count == 1 else 'frames'} unjudged"
