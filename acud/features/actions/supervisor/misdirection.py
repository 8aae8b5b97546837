"""Explaining input that stopped: the dialog in its way, and how many letters its window shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from acud.base.errors import AcudError, Refused
from acud.base.untrusted_text import quote
from acud.features.actions.field_text import CARET
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.window_effects import EffectArea, boxes_above, shown_parts, without
from acud.protocol.capture import Misdirection
from acud.protocol.observation import ObserveAsk
from acud.supervisor.coroutines import Callback
from acud.supervisor.waits.active_waits import ActiveWait, measure_change
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Change, Rect, Target, WaitSpec, WindowInfo, screen_cover
from acud.types.action_effects import OpenDialog
from acud.types.actions import Click, Drag, Hold, InputAction, Key, Scroll, TypeText, parse_chords

_QUIET_S = 0.3
"""A program that held letters shows the last of them before it is quiet for so long, or they are not counted."""
_SHOWS_S = 3.0
_LINE_PX = 8


async def explain(
    steps: DisplaySteps, watched: WatchedDisplay, action: InputAction | None, how: Misdirection, before: str = ""
) -> AcudError:
    """Return the error for input (None: for any) that stopped as `how` describes, with the buttons of the dialog in its
    way. `before`: the baseline of the action, against which letters that are not known to have arrived are looked for
    ("": they are not).
    """
    if isinstance(action, TypeText) and before and how.done and how.unsure == how.done:
        how = await _LetterCount(steps, watched, action.text, how).count_since(before)
    by = next((one for one in watched.windows if one.window_id == how.by), None)
    if by is None or by.kind != "dialog":
        return describe_misdirection(action, how, watched.windows, None)
    now = await steps.observe(watched, ObserveAsk((by.pid,) if by.pid else ()))
    dialog = next((one for one in now.dialogs if one.window_id == how.by), OpenDialog(by.title))
    return describe_misdirection(action, how, watched.windows, dialog)


class _LetterCount:
    """Counts the letters in what changed in their window, where no other window covers it."""

    def __init__(self, steps: DisplaySteps, watched: WatchedDisplay, text: str, how: Misdirection) -> None:
        self._steps, self._watched = steps, watched
        self._typed = text.replace("\r\n", "\n")[: how.done]
        self._how = how

    async def count_since(self, before: str) -> Misdirection:
        """Wait until what changed since `before` is quiet, and read it; return how the input stopped, in which the
        letters that do not show are unsure.
        """
        target, screen = self._find_window(), self._find_screen()
        box = target.bounds.intersect(screen) if target is not None and screen is not None else None
        if target is None or box is None:
            return self._how
        area = without(EffectArea(box), *boxes_above(target, self._watched.windows))
        spec = WaitSpec(
            Change(settle_s=_QUIET_S, baseline=before),
            Target(self._watched.name, region=box, ignore=area.ignore),
            _SHOWS_S,
        )
        ended = await Callback[ActiveWait](partial(self._steps.core.waits.run_transient, spec, self._watched))
        changed = measure_change(ended).box
        count = 0
        for part in self._find_parts(changed.shift(box.x, box.y)) if changed is not None else []:
            now = await self._steps.observe(self._watched, ObserveAsk(read_text=True), part)
            if part in self._find_parts(part):
                count = max(count, count_shown(self._typed, now.lines))
        return replace(self._how, unsure=self._how.done - count)

    def _find_parts(self, box: Rect) -> list[Rect]:
        """Return the parts of `box` in which the window shows, large enough for a line."""
        target = self._find_window()
        parts = shown_parts(target, self._watched.windows, box) if target is not None else []
        return [part for part in parts if part.h >= _LINE_PX]

    def _find_window(self) -> WindowInfo | None:
        """Return the window of the letters, or None while the one in its way is not listed."""
        found = {one.window_id: one for one in self._watched.windows}
        return found.get(self._how.target) if self._how.by in found else None

    def _find_screen(self) -> Rect | None:
        source = self._steps.core.sources.by_name.get(self._watched.name)
        return Rect(0, 0, source.width, source.height) if source is not None else None


_ANSWER = 'answer the dialog first (gui_do "click …"), then do the rest'
_BESIDE = (
    "answer the dialog (gui_do), or give the window the focus (window_focus, acud do window focus); then do the rest"
)
_FOCUS = "give the window the focus first (window_focus, acud do window focus), then do the rest"
_FEWEST = 3
"""Letters that must match: fewer are in many windows by chance."""
_LOCKED = "the screen is locked or hidden: it has to be unlocked first"
_RAISE = "raise the window first (window_raise, acud do window raise), or act on the one that is there"


def describe_misdirection(
    action: InputAction | None, how: Misdirection, windows: Sequence[WindowInfo], dialog: OpenDialog | None
) -> Refused:
    """Return the error for `action` (None: before any), stopped as `how` describes. `dialog`: the one in its way."""
    is_keyed = isinstance(action, Key | TypeText | Hold)
    holder, target = _describe_window(how.by, windows), _quote_title(how.target, windows)
    if how.is_kept:
        why = f"{holder} has the focus and keeps {target} from it"
    elif is_keyed:
        why = f"{holder} has the focus, not {target}"
    else:
        why = f"{holder} is there, not {target}"
    if dialog is not None:
        names = ", ".join(map(_quote_button, dialog.buttons))
        why += f"; buttons: {names}" if names else "; its buttons are not known"
    by_kind = _FOCUS if is_keyed else _RAISE
    if screen_cover(windows) is not None:
        by_kind = _LOCKED
    hint = _ANSWER if how.is_kept else _BESIDE if dialog is not None and is_keyed else by_kind
    total = _count_units(action)
    return Refused(
        f"{why}; {_describe_progress(action, how, total, target)}",
        hint=hint,
        sent=how.done,
        unsure=how.unsure,
        of=total,
        by=how.by,
    )


def count_shown(typed: str, lines: Sequence[str]) -> int:
    """Return how many letters of `typed`, from its first on, are in `lines` of OCR up to the end of a line; 0 for less
    than `_FEWEST`. White space, case and a caret at the end do not count.
    """
    places = [n for n, letter in enumerate(typed, 1) if not letter.isspace()]
    wanted = _fold_text(typed)
    read, ends = "", list[int]()
    for line in map(_fold_text, lines):
        read += line
        ends += [len(read), len(read) - 1] if line.endswith(CARET) else [len(read)]
    starts = [n for n in range(len(read)) if read.startswith(wanted[:_FEWEST], n)]
    found = (end - start for start in starts for end in ends if wanted.startswith(read[start:end]))
    shown = max(found, default=0)
    return places[shown - 1] if shown >= _FEWEST else 0


def _fold_text(text: str) -> str:
    return "".join(text.split()).casefold()


def _describe_progress(action: InputAction | None, how: Misdirection, total: int, target: str) -> str:
    match action:
        case TypeText():
            unit, verb = "letters", "typed"
        case Key():
            unit, verb = "chords", "pressed"
        case Hold():
            unit, verb = "", "held"
        case Drag():
            unit, verb = "", "dragged"
        case Scroll():
            unit, verb = "", "scrolled"
        case Click():
            unit, verb = "", "clicked"
        case _:
            unit, verb = "", "done"
    if not how.done:
        return f"nothing was {verb}"
    if isinstance(action, Drag):
        return "the drag was taken back to where it began"
    rest = f"{total - how.done} were not {verb}"
    if how.unsure and how.unsure == how.done:
        return f"{how.done} of {total} {unit} were sent to {target} (how many of them arrived is not known), {rest}"
    unsure = f" (the last {how.unsure} may be lost, or there)" if how.unsure else ""
    return f"{how.done} of {total} {unit} went to {target}{unsure}, {rest}"


def _count_units(action: InputAction | None) -> int:
    if isinstance(action, TypeText):
        return len(action.text.replace("\r\n", "\n"))
    return len(parse_chords(action.chord)) if isinstance(action, Key) else 1


def _describe_window(window_id: int, windows: Sequence[WindowInfo]) -> str:
    if not window_id:
        return "no window"
    window = next((one for one in windows if one.window_id == window_id), None)
    kind = "window" if window is None or window.kind == "normal" else window.kind
    return f"{kind} {_quote_title(window_id, windows)}"


def _quote_title(window_id: int, windows: Sequence[WindowInfo]) -> str:
    title = next((one.title for one in windows if one.window_id == window_id), "")
    return quote(title) if title else f"{window_id:#x}" if window_id else "the bare screen"


def _quote_button(name: str) -> str:
    """Return the name of a button, quoted unless it is plain words."""
    return name if name.replace(" ", "").isalnum() else quote(name)
