"""What the supervisor knows without a judge: windows, terminal text, widgets, files and tiles, and of which frames.

Window lists, terminal texts, widgets and files are read beside the pixels. A frame is of their moment when they were
read before its grab and read the same after it: a frame comes after the window list of its moment, and a terminal and
widgets are read once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from msgspec.structs import replace

from acud.base.patterns import is_found
from acud.types import (
    Answer,
    Change,
    HostLeaf,
    Leaf,
    Rect,
    ReportedLeaf,
    Stable,
    Text,
    TextLeaf,
    TileLeaf,
    Verdict,
    Widget,
    WindowInfo,
    WindowTitle,
    no,
    unknown,
    yes,
)
from acud.waits.anew import count_anew, describe_presence, find_typed, note_look
from acud.waits.condition_tree import NOT_JUDGED, NOT_LOCATED, evaluate, is_local
from acud.waits.events import FrameSeen
from acud.waits.model import NO_DISPLAY, JobInFlight, PendingYes, TextSnapshot, Wait
from acud.waits.presence import collect_seen, doubt_absences, list_negations
from acud.waits.read_text import comparable
from acud.waits.restless_area import describe_area, describe_tiles, locate_tiles
from acud.waits.terminals import judge_pane, judge_written
from acud.waits.view_state import TargetView, ViewState
from acud.waits.widgets import NOT_READ

TITLE_CHARS = 300
"""A pattern is tried on this much of a title: the supervisor runs it, and any program can set a title."""
_MOST_PLACES = 3
_NAMED = ("covered", "no_accessibility")  # codes of an unknown that only an action on the display resolves
_MOST_NAMED_TILES = 256  # A larger moving area is not named: most of the target changes


def matches_title(leaf: WindowTitle, title: str) -> bool:
    """Return whether a title contains the words (case ignored) or matches the pattern."""
    if leaf.regex:
        return is_found(leaf.title, title[:TITLE_CHARS])
    return comparable(leaf.title) in comparable(title)


def judge_titles(leaf: WindowTitle, windows: tuple[WindowInfo, ...], view: TargetView | None = None) -> Verdict:
    """Return the verdict on the present windows, minimised ones included. With the `view` of a display, it has the box
    of the window where that is in view.
    """
    found = [w for w in windows if w.kind != "popup" and matches_title(leaf, w.title)]
    if found:
        words = f'the window "{found[0].title}" is there'
        boxes = _find_window_boxes(found[0], view)
        return no(words, boxes) if leaf.gone else yes(words, boxes, len(found))
    words = f'no window titled "{leaf.title}" is there'
    return yes(words) if leaf.gone else no(words)


def _find_window_boxes(window: WindowInfo, view: TargetView | None) -> tuple[Rect, ...]:
    if view is None or view.is_window or window.visibility == "unmapped":
        return ()
    inside = window.bounds.intersect(view.box)
    return (inside.shift(-view.box.x, -view.box.y),) if inside is not None else ()


def judge_now(wait: Wait) -> dict[int, Verdict]:
    """Return the verdicts known now without a judge: on local leaves, and on every leaf while the target is missing."""
    return describe_presence(wait, count_anew(wait, _look_now(wait)))


def _look_now(wait: Wait) -> dict[int, Verdict]:
    """Return the verdicts on the present view, whether they count or not."""
    verdicts = ((index, _judge_now(wait, index, leaf)) for index, leaf in enumerate(wait.leaves))
    return {index: verdict for index, verdict in verdicts if verdict is not None}


def _judge_now(wait: Wait, index: int, leaf: Leaf) -> Verdict | None:
    view_state = wait.in_view
    if isinstance(leaf, WindowTitle):
        return (
            wait.windows_missing
            if wait.windows is None
            else judge_titles(leaf, wait.windows, view_state.view if view_state else None)
        )
    if isinstance(leaf, Widget):
        verdict = wait.widgets.get(index, NOT_READ)
        return wait.missing or doubt_absences(wait, {index: verdict}, wait.windows)[index]
    if isinstance(leaf, HostLeaf):
        return wait.host_answers.get(index, NOT_JUDGED)
    if isinstance(leaf, TextLeaf) and wait.terminal_text is not None:
        return wait.scrolled_off.get(index) or judge_pane(leaf, wait.terminal_text, find_typed(leaf, wait.typed).echoes)
    if view_state is None:
        return wait.missing or NOT_LOCATED
    if index in wait.unaffordable:
        return unknown("budget", wait.budget_status.spent)
    if leaf.quiet_s and wait.is_acting:
        return no("the action goes on")
    if isinstance(leaf, Change):
        return judge_change(view_state, index, leaf)
    if not isinstance(leaf, Stable):
        return None
    begun, besides = wait.acted_from, find_ignored_tiles(view_state, leaf)
    if begun is not None and not view_state.touched_within(begun, view_state.frame, besides):
        return no("nothing has changed yet since the action began")
    return judge_stable(view_state, leaf)


def judge_change(view_state: ViewState, index: int, leaf: Change) -> Verdict:
    """Return whether the target changed since the leaf's baseline, and settled if the leaf asks for that."""
    change = view_state.changes[index]
    boxes = _locate_tiles(view_state, change.touched)
    if change.holds_from is None and change.doubt:
        return unknown("not_compared", f"it could not be compared with its baseline: {change.doubt}")
    if change.holds_from is None:
        return no(_describe_too_little(view_state, index, leaf), boxes)
    words = _describe_change(view_state, index)
    if leaf.settle_s and not is_quiet_for(view_state, leaf, leaf.settle_s):
        return no(f"{words}, but it has not settled for {leaf.settle_s:g} s yet", boxes)
    return yes(words + describe_ignored(view_state, leaf), boxes)


def _locate_tiles(view_state: ViewState, tiles: int) -> tuple[Rect, ...]:
    """Return the box around the tiles in the target's pixels; none if it is the whole target."""
    box = locate_tiles(view_state.view, tiles)
    return () if box is None or (box.w, box.h) == (view_state.view.box.w, view_state.view.box.h) else (box,)


def _describe_change(view_state: ViewState, index: int) -> str:
    doubt = view_state.changes[index].doubt or view_state.changes[index].unsure
    if doubt:
        return f"it counts as changed, for it could not be compared with its baseline: {doubt}"
    return f"changed tiles cover {view_state.share(index):.1%} of the target"


def _describe_too_little(view_state: ViewState, index: int, leaf: Change) -> str:
    if not view_state.changes[index].touched:
        return "the target has not changed since the baseline"
    return f"changed tiles cover {view_state.share(index):.1%} of the target, {leaf.share:.1%} is asked"


def judge_stable(view_state: ViewState, leaf: Stable) -> Verdict:
    """Return whether nothing changed for `stable_s`, up to the newest compared grab."""
    stable_s, besides = leaf.stable_s, describe_ignored(view_state, leaf)
    if is_quiet_for(view_state, leaf, stable_s):
        return yes(f"nothing in the target changed for {stable_s:g} s{besides}")
    moves = _find_moving_tiles(view_state, stable_s, find_ignored_tiles(view_state, leaf))
    place = describe_tiles(view_state.view, moves)
    where = f": {place} keep changing" if place else ""
    words = f"the target has not been unchanged for {stable_s:g} s yet{where}{besides}"
    return no(words, _locate_tiles(view_state, moves))


def find_ignored_tiles(view_state: ViewState, leaf: Leaf) -> int:
    """Return the blinking tiles that a leaf asking for quiet ignores."""
    asked = isinstance(leaf, TileLeaf) and leaf.ignore_blinking
    return view_state.blinks.blinking if asked and view_state.blinks is not None else 0


def describe_ignored(view_state: ViewState, leaf: TileLeaf) -> str:
    """Return in words which blinking areas were left out, "" for none."""
    view = view_state.view
    spots = view.grid.spots(find_ignored_tiles(view_state, leaf))
    places = [place for spot in spots if (place := describe_tiles(view, spot))]
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    areas = "a blinking area" if len(places) == 1 else "blinking areas"
    return f", ignoring {areas}: {', '.join(places[:_MOST_PLACES])}{more}" if places else ""


def _find_moving_tiles(view_state: ViewState, within_s: float, besides: int) -> int:
    """Return the tiles that changed in the seconds before the target's last change, none where that is not known."""
    counted = [mark for mark in view_state.marks if mark.tiles is None or mark.tiles & ~besides]
    since = max((mark.at for mark in counted), default=0.0) - within_s
    moved = [None if mark.tiles is None else mark.tiles & ~besides for mark in counted if mark.at >= since]
    known = reduce(or_, (tiles for tiles in moved if tiles is not None), 0)
    is_all = known == view_state.view.masks.touching
    return 0 if is_all or None in moved or known.bit_count() > _MOST_NAMED_TILES else known


def find_quiet_start(view_state: ViewState, leaf: Leaf) -> float:
    """Return since when the target is quiet in the sense of a leaf."""
    asked = isinstance(leaf, TileLeaf) and leaf.ignore_blinking
    since = view_state.blinks.quiet_from if asked and view_state.blinks is not None else view_state.quiet_from
    return max(since, view_state.acted_at)


def is_quiet_for(view_state: ViewState, leaf: TileLeaf, seconds: float) -> bool:
    """Return whether the newest grab found the target as it was `seconds` before. With blinking ignored, a change in
    tiles partly outside the target counts: there is no identity without the blinking tiles.
    """
    settled = leaf.ignore_blinking or view_state.uncertain is None
    return settled and view_state.grabbed_at >= find_quiet_start(view_state, leaf) + seconds


def list_quiet_spans(wait: Wait) -> Iterator[tuple[int, float]]:
    """Yield the leaves that ask for quiet with its length in seconds; a change not yet seen asks for none."""
    for index, leaf in enumerate(wait.leaves):
        is_seen = not isinstance(leaf, Change) or (
            wait.view_state is not None and wait.view_state.changes[index].holds_from is not None
        )
        if leaf.quiet_s and is_seen:
            yield index, leaf.quiet_s


def judge_locally_on(wait: Wait, flight: JobInFlight, frame: int) -> dict[int, Verdict]:
    """Return the local verdicts on the frame that a job judged: those at its dispatch, corrected by later frames. A
    change is known frame by frame. Quiet seen at the dispatch is void when the judged frame changed the target again.
    """
    return {index: _judge_on(wait, index, verdict, flight, frame) for index, verdict in flight.request.known.items()}


def _judge_on(wait: Wait, index: int, verdict: Verdict, flight: JobInFlight, frame: int) -> Verdict:
    leaf, view_state = wait.leaves[index], wait.in_view
    if not is_local(leaf) or isinstance(leaf, ReportedLeaf) or view_state is None:
        return verdict
    if leaf.quiet_s:
        besides = find_ignored_tiles(view_state, leaf)
        moved = verdict.answer is Answer.YES and view_state.touched_within(flight.frame, frame, besides)
        return no("the target changed again") if moved else verdict
    held = view_state.changes[index].holds_from
    return (
        judge_change(view_state, index, leaf)
        if isinstance(leaf, Change) and held is not None and held <= frame
        else verdict
    )


def note_of(wait: Wait) -> str:
    """Return the client's note about target, judge, budget and pace, "" when nothing is amiss."""
    missing = wait.missing
    unseen = missing.detail if missing is not None and missing not in (NOT_LOCATED, NO_DISPLAY) else ""
    unseen = wait.verdict.detail if not unseen and wait.verdict.code in _NAMED else unseen
    count = wait.judge_state.unreadable
    unread = (
        f"the judge's last {count} answers could not be read: see its verdict, or name another" if count > 1 else ""
    )
    return "; ".join(filter(None, (unseen, unread, wait.budget_status.note, _describe_pace(wait))))


def _describe_pace(wait: Wait) -> str:
    if not wait.judge_state.restless.is_known or wait.view_state is None or not wait.paces_restless:
        return ""
    return describe_area(wait.judge_state.restless, wait.view_state, wait.longest_pause_s)


def find_scrolled_off(wait: Wait, screen: str, written: str) -> dict[int, Verdict]:
    """Return by leaf the yes for each text and number that a terminal wrote, but no longer shows on `screen`. It stays
    a yes: output is an event. Leaves that ask for absence are judged by the screen alone.
    """
    found = dict(wait.scrolled_off)
    for index, (leaf, negated) in enumerate(zip(wait.leaves, list_negations(wait.until), strict=True)):
        if negated or index in found or not isinstance(leaf, TextLeaf) or (isinstance(leaf, Text) and leaf.gone):
            continue
        echoes = find_typed(leaf, wait.typed).echoes
        verdict = (
            judge_written(leaf, written, echoes) if judge_pane(leaf, screen, echoes).answer is not Answer.YES else None
        )
        if verdict is not None and count_anew(wait, {index: verdict})[index].answer is Answer.YES:
            found[index] = verdict
    return found


def is_text_leaf(wait: Wait, leaf: Leaf) -> bool:
    """Return whether the leaf is answered from windows, widgets, a terminal's text or the host, not from pixels."""
    return isinstance(leaf, ReportedLeaf) or (isinstance(leaf, TextLeaf) and wait.terminal_text is not None)


def apply_texts(wait: Wait, at: float) -> Wait:
    """Return the wait after windows, terminal or widgets were read; a yes that they deny holds on earlier frames."""
    look = _look_now(wait)
    wait = replace(wait, leaves_seen=collect_seen(wait, look))
    wait = note_look(wait, {index: look[index] for index, leaf in enumerate(wait.leaves) if is_text_leaf(wait, leaf)})
    now = judge_now(wait)
    answers = {index: now[index].answer for index, leaf in enumerate(wait.leaves) if is_text_leaf(wait, leaf)}
    before = wait.texts
    if answers == before.answers:
        return replace(wait, texts=_extend_to_newest_frame(wait, before))
    after = replace(wait, texts=TextSnapshot(answers, at, read_at=before.read_at, widgets_at=before.widgets_at))
    if wait.pending is None or wait.pending.frames is not None or not _is_denied(after, wait.pending, now):
        return after
    frames = (before.first if before.first is not None else 0, before.last)
    return replace(after, pending=replace(wait.pending, frames=frames))


def _is_denied(wait: Wait, pending: PendingYes, now: dict[int, Verdict]) -> bool:
    answered = {index: now[index] for index in wait.texts.answers}
    return evaluate(wait.until, {**pending.verdicts, **answered}).answer is Answer.NO


def update_texts(wait: Wait, event: FrameSeen) -> TextSnapshot:
    """Return the texts after a notice of the aimed source."""
    texts = wait.texts
    if not texts.answers or wait.view_state is None or event.epoch != wait.view_state.view.epoch:
        return texts
    if event.grabbed_at < (texts.since if texts.first is None else texts.newest_at):
        return texts
    first = event.frame if texts.first is None else texts.first
    return _extend_to_newest_frame(wait, replace(texts, first=first, newest=event.frame, newest_at=event.grabbed_at))


def _extend_to_newest_frame(wait: Wait, texts: TextSnapshot) -> TextSnapshot:
    """Return the snapshot with the newest frame included, if terminal and widgets were read after that frame was
    grabbed; else return it unchanged.
    """
    if texts.first is None or read_at(wait, texts) < texts.newest_at:
        return texts
    return replace(texts, last=max(texts.last, texts.newest))


def read_at(wait: Wait, texts: TextSnapshot) -> float:
    """Return when the oldest needed reading of a terminal or widgets began; infinity if none is needed."""
    of_leaves = (
        texts.widgets_at if isinstance(leaf, Widget) else texts.read_at
        for leaf in wait.leaves
        if is_text_leaf(wait, leaf) and not isinstance(leaf, WindowTitle | HostLeaf)
    )
    return min(of_leaves, default=float("inf"))


def reset_texts(texts: TextSnapshot) -> TextSnapshot:
    """Return the texts for another view, which has frames of its own."""
    return replace(texts, first=None, last=-1, newest=-1, newest_at=float("-inf"))


def is_of_moment(wait: Wait, pending: PendingYes, frame: int) -> bool | None:
    """Return whether windows and terminals agreed with `pending` when `frame` was grabbed; None: not known yet."""
    if pending.frames is not None:
        return pending.frames[0] <= frame <= pending.frames[1]
    texts = wait.texts
    if not texts.answers:
        return True
    if texts.first is None:
        return None
    if frame < texts.first:
        return False
    return True if frame <= texts.last else None


def judge_again_on(wait: Wait, pending: PendingYes, frame: int, identity: str) -> Verdict:
    """Return the verdict of `pending` on the later frame whose picture is kept as evidence, with this `identity`. A
    judgement, or quiet, still holds there if nothing changed the target in between, or it looks the same.
    """
    view_state = wait.in_view
    same_look = bool(identity) and identity == pending.identity

    def has_moved(leaf: Leaf) -> bool:
        besides = find_ignored_tiles(view_state, leaf) if view_state is not None else 0
        return view_state is not None and not same_look and view_state.touched_within(pending.frame, frame, besides)

    now = judge_now(wait) if pending.frames is None else {}
    verdicts: dict[int, Verdict] = {}
    for index, leaf in enumerate(wait.leaves):
        if is_text_leaf(wait, leaf) and index in now and (index not in pending.verdicts or _is_known(now[index])):
            verdicts[index] = now[index]
        elif index in pending.verdicts and not (_is_of_frame(leaf) and has_moved(leaf)):
            verdicts[index] = pending.verdicts[index]
    return evaluate(wait.until, verdicts)


def _is_known(verdict: Verdict) -> bool:
    """Return whether a program answered; one that stalls since then denies nothing."""
    return verdict.answer is not Answer.UNKNOWN


def _is_of_frame(leaf: Leaf) -> bool:
    """Return whether the answer holds for one frame only; a change, once there, stays."""
    return not isinstance(leaf, Change | ReportedLeaf) or leaf.quiet_s > 0
