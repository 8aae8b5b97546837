"""Whether what a condition names is there, where it was last seen, and what hides that place now.

What is not in sight is not known to be gone. A place is a box in the window that showed it, and moves with the window;
closing the window ends the place. A target that is a window is judged by its own pixels, and needs no place.

What was never seen, and what a sentence names, has no place: it may be in any window that was in sight when the wait
began and is hidden now. A text or picture may also be below a window that hid the whole target from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from msgspec.structs import replace

from acud.types import (
    AllOf,
    Answer,
    AnyOf,
    Criteria,
    FileState,
    Leaf,
    NamedLeaf,
    NotOf,
    PixelLeaf,
    PlacedLeaf,
    Rect,
    Then,
    TileLeaf,
    Until,
    Verdict,
    Widget,
    WindowInfo,
    unknown,
    window_at,
)
from acud.waits.absence import asks_absence
from acud.waits.model import SeenPlace, Wait
from acud.waits.tiles import subtract

NEVER_THERE = "it was not there when the wait began to look"
NOT_IN_STAGE = "it was not there when this stage began"
Windows = tuple[WindowInfo, ...]


def collect_seen(wait: Wait, verdicts: Mapping[int, Verdict]) -> frozenset[int]:
    """Return the leaves that were seen there (text, image or window), including those of `verdicts`."""
    there = {index for index, verdict in verdicts.items() if is_there(wait.leaves[index], verdict) is True}
    return wait.leaves_seen | there


def ask_presence(leaf: Leaf) -> NamedLeaf | None:
    """Return a leaf that asks for the text, image, window, widget or file to be there; None for other leaves."""
    return replace(leaf, gone=False) if _can_be_there(leaf) else None


def is_there(leaf: Leaf, verdict: Verdict) -> bool | None:
    """Return whether the leaf's text, image or window is there; None for other leaves, or if not known."""
    if not _can_be_there(leaf) or verdict.answer is Answer.UNKNOWN:
        return None
    if isinstance(leaf, FileState) and not leaf.gone and verdict.answer is Answer.NO:
        return None  # it may be there, and not complete
    return (verdict.answer is Answer.YES) is not leaf.gone


def _can_be_there(leaf: Leaf) -> TypeGuard[NamedLeaf]:
    """Return whether the leaf asks only for the presence of a thing."""
    if isinstance(leaf, Widget):
        return not leaf.states and leaf.value is None
    return isinstance(leaf, NamedLeaf)


def find_absences(wait: Wait) -> set[int]:
    """Return the leaves that hold while something is absent; a negated leaf counts by its opposite."""
    signed = zip(wait.leaves, list_negations(wait.until), strict=True)
    return {at for at, (leaf, negated) in enumerate(signed) if _can_be_there(leaf) and leaf.gone is not negated}


def list_negations(until: Until, *, negated: bool = False) -> Iterator[bool]:
    if isinstance(until, AllOf | AnyOf | Then):
        for part in until.parts:
            yield from list_negations(part, negated=negated)
    elif isinstance(until, NotOf):
        yield from list_negations(until.part, negated=not negated)
    else:
        yield negated


# ---- places --------------------------------------------------------------------------------------------------------


def note_places(wait: Wait, verdicts: Mapping[int, Verdict], windows: Windows | None) -> Wait:
    """Return the wait, which now remembers where in `windows` the text or widget of each verdict stood."""
    view_state, seen = wait.view_state, {}
    if not windows or view_state is None or view_state.view.is_window:
        return wait
    for index, verdict in verdicts.items():
        leaf = ask_presence(wait.leaves[index])
        if isinstance(leaf, PlacedLeaf) and verdict.boxes and is_there(wait.leaves[index], verdict):
            x, y = view_state.view.box.x, view_state.view.box.y
            known = wait.places.get(leaf, ())
            seen[leaf] = tuple(_find_place(box.shift(x, y), windows, known) for box in verdict.boxes)
    return replace(wait, places={**wait.places, **seen}) if seen else wait


def _find_place(box: Rect, windows: Windows, places: tuple[SeenPlace, ...]) -> SeenPlace:
    bounds = {one.window_id: one.bounds for one in windows}
    for one in places:  # its window may be hidden by now: the list of windows can be newer than the frame that was read
        at = bounds.get(one.window)
        if at is not None and one.box.shift(at.x, at.y) == box:
            return one
    shown_by = window_at(windows, box.x + box.w // 2, box.y + box.h // 2)
    at = shown_by.bounds if shown_by is not None else Rect(0, 0, 0, 0)
    return SeenPlace(shown_by.window_id if shown_by is not None else 0, box.shift(-at.x, -at.y))


def doubt_absences(wait: Wait, verdicts: Mapping[int, Verdict], *moments: Windows | None) -> dict[int, Verdict]:
    """Return the verdicts; an absence is unknown if a window of one of the lists `moments` hid the place."""
    return {
        index: next((doubt for windows in moments if (doubt := _doubt_absence(wait, index, verdict, windows))), verdict)
        for index, verdict in verdicts.items()
    }


def _doubt_absence(wait: Wait, index: int, verdict: Verdict, windows: Windows | None) -> Verdict | None:
    leaf, named = wait.leaves[index], ask_presence(wait.leaves[index])
    if windows is None or (wait.view_state is not None and wait.view_state.view.is_window):
        return None
    if isinstance(leaf, Criteria):
        is_absent = verdict.answer is (Answer.YES if asks_absence(leaf) else Answer.NO)
    else:
        is_absent = index in find_absences(wait) and is_there(leaf, verdict) is False
    places = wait.places.get(named) if named is not None else None
    if not is_absent:
        return None
    if places is None:
        why = _explain_unseen(wait, windows, index)
        hint = "it may be there; a window as the target is judged covered too"
        return unknown("covered", f"{why}: {hint}") if why else None
    is_reported = isinstance(leaf, Widget)
    why = next((why for one in places if (why := _explain_hidden(wait, one, windows, is_reported=is_reported))), "")
    return unknown("covered", f"the place where it was last seen {why}") if why else None


def _explain_unseen(wait: Wait, windows: Windows, index: int) -> str:
    """Return which window of the target is hidden and may hold leaf `index`; "" for none. Where the condition also asks
    for what is there, only that counts.
    """
    view_state, lacking = wait.view_state, _find_lacking(wait)
    if view_state is None or index not in lacking or len(lacking) < sum(map(_is_looked_for, wait.leaves)):
        return ""
    box, is_sentence = view_state.view.box, isinstance(wait.leaves[index], Criteria)
    for at, own in enumerate(windows):
        was_shown, part = own.window_id in wait.first_shown, own.bounds.intersect(box)
        if own.kind == "popup" or own.is_desktop or part is None:
            continue
        if own.visibility == "unmapped":
            if was_shown:
                return f"{_describe_window(own)} is minimised or unmapped"
            continue
        above = find_covers(part, windows[:at])
        if above and (was_shown or (not is_sentence and any(one.outside.contains(box) for one in above))):
            return f"{_describe_window(own)} is covered by {_describe_window(above[0])}"
    return ""


def _find_lacking(wait: Wait) -> set[int]:
    """Return the texts, pictures and sentences that hold while a thing is absent."""
    signed = enumerate(zip(wait.leaves, list_negations(wait.until), strict=True))
    sentences = {at for at, (leaf, neg) in signed if isinstance(leaf, Criteria) and asks_absence(leaf) is not neg}
    return sentences | {at for at in find_absences(wait) if isinstance(wait.leaves[at], PixelLeaf)}


def _is_looked_for(leaf: Leaf) -> bool:
    return isinstance(leaf, PixelLeaf | Criteria)


def find_covers(part: Rect, above: Windows) -> Windows:
    """Return the windows of `above` over a part of the display, if together they hide all of it; else none."""
    over = tuple(one for one in above if one.visibility != "unmapped" and one.outside.intersect(part))
    return () if subtract(part, (one.outside.shift(-part.x, -part.y) for one in over)) else over


def judge_hidden_region(wait: Wait, windows: Windows, region: Rect | None) -> Verdict | None:
    """Return why changes and quiet of a region are unknown: other programs' windows hide all that showed there when the
    wait began. None where the wait asks for something else, or the region is not hidden so.
    """
    pixels = [leaf for leaf in wait.leaves if isinstance(leaf, TileLeaf | PixelLeaf | Criteria)]
    if region is None or not pixels or not all(isinstance(leaf, TileLeaf) for leaf in pixels):
        return None
    own = [one for one in windows if one.window_id in wait.first_shown and one.bounds.intersect(region)]
    programs, covers = set(map(_identify_program, own)), list[WindowInfo]()
    for one in own:
        part, above = one.bounds.intersect(region), windows[: windows.index(one)]
        over = find_covers(part, above) if part is not None and one.visibility != "unmapped" else ()
        if one.visibility != "unmapped" and not over:
            return None
        covers += over
    if not own or any(_identify_program(one) in programs for one in covers):
        return None
    how = f"is covered by {_describe_window(covers[0])}" if covers else "is minimised or unmapped"
    return unknown("covered", f"what showed in the region when the wait began, {_describe_window(own[0])}, {how}")


def _identify_program(window: WindowInfo) -> int:
    """Return the process of a window or, if unknown, its X client: the high bits of an X id."""
    return window.pid or -(window.window_id >> 21)


def find_shown(windows: Windows) -> frozenset[int]:
    """Return the windows that are at least partly in sight, without the desktop background."""
    shown = ((at, own) for at, own in enumerate(windows) if own.visibility != "unmapped" and not own.is_desktop)
    return frozenset(own.window_id for at, own in shown if not find_covers(own.bounds, windows[:at]))


def _explain_hidden(wait: Wait, place: SeenPlace, windows: Windows, *, is_reported: bool) -> str:
    """Return what hides a place, "" for nothing. `is_reported`: the program reports what is there, covered or not."""
    own = next((one for one in windows if one.window_id == place.window), None)
    if place.window and own is None:
        return ""
    if own is not None and own.visibility == "unmapped":
        return f"is hidden: its window {_describe_window(own)} is minimised or unmapped"
    box = place.box if own is None else place.box.shift(own.bounds.x, own.bounds.y)
    if own is not None and own.visibility == "covered" and not is_reported:
        middle = box.x + box.w // 2, box.y + box.h // 2
        if not own.outside.holds(*middle):
            return f"is hidden: its window {_describe_window(own)} is rolled up"
        if wait.view_state is not None and not wait.view_state.view.box.holds(*middle):
            return f"is hidden: its window {_describe_window(own)} was moved out of sight"
    above = windows[: windows.index(own)] if own is not None else windows
    over = (one for one in above if one.visibility != "unmapped" and one.outside.intersect(box))
    cover = None if is_reported else next(over, None)
    return f"is covered by {_describe_window(cover)}" if cover is not None else ""


def _describe_window(window: WindowInfo) -> str:
    words = window.title or window.wm_class
    return f'"{words}" (window:{window.window_id:#x})' if words else f"window:{window.window_id:#x}"


def has_cover_changed(wait: Wait, windows: Windows) -> bool:
    """Return whether other windows hide a place in `windows` than in the list that the wait knows."""
    before = wait.windows or ()
    places = [one for some in wait.places.values() for one in some]
    lacking = _find_lacking(wait)
    hiding = (
        [
            *(_explain_hidden(wait, one, now, is_reported=False) for one in places),
            *(_explain_unseen(wait, now, at) for at in lacking),
        ]
        for now in (before, windows)
    )
    return next(hiding) != next(hiding)
