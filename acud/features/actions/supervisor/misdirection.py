"""Explaining input that stopped: the dialog in its way, and how many letters its window shows."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from acud.base.errors import AcudError
from acud.features.actions.misdirected_words import count_shown, describe_misdirection
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.window_effects import EffectArea, boxes_above, shown_parts, without
from acud.protocol.capture import Misdirection
from acud.protocol.observation import ObserveAsk
from acud.supervisor.coroutines import Callback
from acud.supervisor.waits.active_waits import ActiveWait, measure_change
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Change, Rect, Target, WaitSpec, WindowInfo
from acud.types.action_effects import OpenDialog
from acud.types.actions import InputAction, TypeText

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
