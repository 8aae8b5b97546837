"""Explaining input that stopped: the dialog in its way, and how many letters its window shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from acud.base.errors import AcudError
from acud.features.actions.misdirected_words import count_shown, describe_misdirection
from acud.features.actions.window_effects import EffectArea, boxes_above, shown_parts, without
from acud.protocol.capture import Misdirection
from acud.protocol.observation import ObserveAsk, Observed
from acud.supervisor.waits.active_waits import ActiveWait, measure_change
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Change, Rect, Target, WaitSpec, WindowInfo
from acud.types.action_effects import OpenDialog
from acud.types.actions import InputAction, TypeText

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature

_QUIET_S = 0.3
"""A program that held letters shows the last of them before it is quiet for so long, or they are not counted."""
_SHOWS_S = 3.0
_LINE_PX = 8


def explain(
    feature: ActionsFeature,
    watched: WatchedDisplay,
    action: InputAction | None,
    how: Misdirection,
    done: Callable[[AcudError], None],
    before: str = "",
) -> None:
    """Call `done` with the error for input (None: for any) that stopped as `how` tells, with the buttons of the dialog
    in its way. `before`: the baseline of the action, against which letters that are not known to have arrived are
    looked for ("": they are not).
    """

    def describe(known: Misdirection) -> None:
        by = next((one for one in watched.windows if one.window_id == how.by), None)
        if by is None or by.kind != "dialog":
            done(describe_misdirection(action, known, watched.windows, None))
            return

        def name_buttons(now: Observed) -> None:
            dialog = next((one for one in now.dialogs if one.window_id == how.by), OpenDialog(by.title))
            done(describe_misdirection(action, known, watched.windows, dialog))

        feature.observe(watched, ObserveAsk((by.pid,) if by.pid else ()), name_buttons)

    if isinstance(action, TypeText) and before and how.done and how.unsure == how.done:
        _LetterCount(feature, watched, action.text, how, describe).begin(before)
    else:
        describe(how)


class _LetterCount:
    """Counts the letters in what changed in their window, where no other window covers it. Calls `done` with `how`, in
    which the letters that do not show are unsure.
    """

    def __init__(
        self,
        feature: ActionsFeature,
        watched: WatchedDisplay,
        text: str,
        how: Misdirection,
        done: Callable[[Misdirection], None],
    ) -> None:
        self._feature, self._watched = feature, watched
        self._typed = text.replace("\r\n", "\n")[: how.done]
        self._how = how
        self._done = done

    def begin(self, before: str) -> None:
        """Wait until what changed since `before` is quiet, and read it."""
        target, screen = self._find_window(), self._find_screen()
        box = target.bounds.intersect(screen) if target is not None and screen is not None else None
        if target is None or box is None:
            self._done(self._how)
            return
        area = without(EffectArea(box), *boxes_above(target, self._watched.windows))
        spec = WaitSpec(
            Change(settle_s=_QUIET_S, baseline=before),
            Target(self._watched.name, region=box, ignore=area.ignore),
            _SHOWS_S,
        )
        self._feature.core.waits.run_transient(spec, self._watched, lambda active: self._read(active, box))

    def _read(self, active: ActiveWait, area: Rect) -> None:
        changed = measure_change(active).box
        parts = self._find_parts(changed.shift(area.x, area.y)) if changed is not None else []
        self._read_parts(parts, 0)

    def _read_parts(self, left: Sequence[Rect], count: int) -> None:
        """Read the parts that are `left`, one after the other; `count`: the most letters that one showed so far."""
        if not left:
            self._done(replace(self._how, unsure=self._how.done - count))
            return

        def read(now: Observed) -> None:
            shown = count_shown(self._typed, now.lines) if left[0] in self._find_parts(left[0]) else 0
            self._read_parts(left[1:], max(count, shown))

        self._feature.observe(self._watched, ObserveAsk(read_text=True), read, left[0])

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
        source = self._feature.core.sources.by_name.get(self._watched.name)
        return Rect(0, 0, source.width, source.height) if source is not None else None
