"""Scrolling: by so many turns, or until something is in view; over what scrolls, found among the widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from acud.base.quotation_marks import unquote
from acud.features.actions.instructions import ScrollBy, ScrollUntil, instruction_text
from acud.features.actions.supervisor.effect_watch import finish, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun
from acud.features.actions.window_effects import EffectArea, on_tiles
from acud.protocol.observation import Observed, Scrollable
from acud.supervisor.waits.active_waits import ChangedShare
from acud.types import Rect, Verdict, yes
from acud.types.actions import Direction, Point, Scroll
from acud.types.grounding import Candidate, Found, GroundingMethod

_WHEEL = 5
_CLICK_PX = 80
"""More than one click of the wheel moves (GTK 3 and Qt 45 to 60, Chromium 53): no row of a low list may pass unseen."""
_MOVES_S = 1.0
"""A scroll that moved nothing by then is at its end."""
_MOVES_SETTLE_S = 0.1
_MOST_CLICKS = 200
"""Of the wheel, in either direction."""
_SCROLL_S = 60.0
"""Altogether: reading the text of each view takes a second."""


def scroll(run: InstructionRun, instruction: ScrollBy) -> None:
    """Turn the wheel so many times over what is named, or over the largest thing that scrolls."""

    def at(point: Point) -> None:
        turn = Scroll(instruction.direction, instruction.amount, point)

        def turned() -> None:
            verify(run, f"{instruction_text(instruction)} (the wheel was turned at {point.x},{point.y})", (point,))

        run.prepare((point,), lambda: run.approach(point, lambda: run.act((turn,), turned)))

    def chosen(now: Observed) -> None:
        at(now.scrollables[0].at if now.scrollables else middle)

    if instruction.at:
        run.find(instruction.at, lambda found: at(found.point), may_be_disabled=True)
        return
    middle = run.middle()
    run.prepare((middle,), lambda: run.observe(chosen, point=middle, hint=""))


class WheelSearch:
    """Turns the wheel over one place and looks after each turn: down to the end, then up to the other.

    `look` is given what to call where the thing is not in view; it goes on by itself where it is. `ended` is called
    when the search is over without it, with the last that was found and whether the time was over.
    """

    def __init__(
        self,
        run: InstructionRun,
        place: Scrollable,
        until_s: float,
        look: Callable[[Callable[[Found], None]], None],
        ended: Callable[[Found, bool], None],
    ) -> None:
        self.turned = 0
        self._run = run
        self._place = place
        self._until_s = until_s
        self._look = look
        self._ended = ended
        self._direction = Direction.DOWN
        self._clicks = 0
        self._amount = min(_WHEEL, max(1, place.box.h // _CLICK_PX))

    def turn(self, found: Found) -> None:
        """Turn once more, after a look that found it not."""
        if self._run.core.clock.monotonic_s() > self._until_s:
            self._ended(found, True)
            return
        if self._clicks >= _MOST_CLICKS:
            self._turn_back(found)
            return
        self._clicks += self._amount
        self.turned += 1
        self._run.baseline = ""
        wheel = Scroll(self._direction, self._amount, self._place.at)
        area = on_tiles(EffectArea(self._place.box), self._run.screen)

        def moved(share: ChangedShare) -> None:
            if share.box is not None:
                self._look(self.turn)
            else:
                self._turn_back(found)

        self._run.act((wheel,), lambda: self._run.changed(moved, _MOVES_S, _MOVES_SETTLE_S, area=area))

    def _turn_back(self, found: Found) -> None:
        if self._direction is Direction.UP:
            self._ended(found, False)
        else:
            self._direction, self._clicks = Direction.UP, 0
            self.turn(found)


class ScrollSearch:
    """Scrolls until it is there: over what the instruction names, else over each thing that scrolls.

    Those that hold something of that name out of sight come first, as their program tells; then the largest.
    """

    def __init__(self, run: InstructionRun, instruction: ScrollUntil) -> None:
        self._run = run
        self._instruction = instruction
        self._until_s = 0.0
        self._tried: list[tuple[int, int]] = []
        """The sizes of what was scrolled to both ends: scrolling one moves those in it."""
        self._turned = 0
        self._wheel: WheelSearch | None = None

    def begin(self) -> None:
        """Look, then scroll."""
        self._until_s = self._run.core.clock.monotonic_s() + _SCROLL_S
        self._look(self._first)

    def _look(self, missing: Callable[[Found], None]) -> None:
        self._run.find(
            self._instruction.to, self._there, missing=lambda found: self._missing(found, missing), may_be_disabled=True
        )

    def _missing(self, found: Found, go_on: Callable[[Found], None]) -> None:
        if not is_out_of_view(found):
            self._run.give_up(found, self._instruction.to)
        else:
            go_on(found)

    def _first(self, found: Found) -> None:
        """Nothing of it is in view: find what scrolls."""

        def named(place: Candidate) -> None:
            box = place.box if place.box is not None else self._around(place.point)
            self._run.prepare((place.point,), lambda: self._turn(Scrollable(box, place.point), found))

        if self._instruction.at:
            self._run.find(self._instruction.at, named, may_be_disabled=True)
        else:
            self._run.prepare((self._run.middle(),), lambda: self._next(found))

    def _around(self, point: Point) -> Rect:
        """Return where a turn of the wheel at `point` can be seen, where no widget tells what scrolls there."""
        area = self._run.area.box
        return area if area.holds(point.x, point.y) else self._run.screen

    def _next(self, found: Found) -> None:
        """Scroll the next thing that scrolls, as it is now; where no widget tells of any, what is in the middle."""
        middle = self._run.middle()

        def known(now: Observed) -> None:
            left = [one for one in now.scrollables if (one.box.w, one.box.h) not in self._tried]
            if not self._tried:
                left = left or [Scrollable(self._around(middle), middle)]
            if left:
                self._turn(left[0], found)
            else:
                self._give_up(found)

        self._run.observe(known, point=middle, hint=unquote(self._instruction.to))

    def _turn(self, place: Scrollable, found: Found) -> None:
        self._tried.append((place.box.w, place.box.h))
        self._wheel = WheelSearch(self._run, place, self._until_s, self._look, self._ended)
        self._wheel.turn(found)

    def _give_up(self, found: Found) -> None:
        places = "" if len(self._tried) == 1 else f" in {len(self._tried)} places"
        status: Literal["unknown", "not_found"] = "unknown" if found.status == "unknown" else "not_found"
        self._finish(status, f"scrolled to both ends{places}: {found.reason}")

    def _ended(self, found: Found, is_late: bool) -> None:
        self._turned += self._wheel.turned if self._wheel is not None else 0
        self._wheel = None
        if is_late:
            self._finish("unknown", f"not met within {_SCROLL_S:.0f} s of scrolling")
        elif self._instruction.at:
            self._give_up(found)
        else:
            self._next(found)

    def _there(self, found: Candidate) -> None:
        """It was seen while it moved, maybe: tell where it is once all is at rest."""
        wheel = self._wheel
        if wheel is None:
            self._seen(found)
            return
        again: Callable[[Found], None] = self._run.later(wheel.turn)
        self._run.settle(lambda: self._run.find(self._instruction.to, self._seen, missing=again, may_be_disabled=True))

    def _seen(self, found: Candidate) -> None:
        turned = self._turned + (self._wheel.turned if self._wheel is not None else 0)
        seen = yes(f"in view at {found.point.x},{found.point.y} after {turned} turns of the wheel")
        self._finish("verified", seen.detail, seen)

    def _finish(
        self, status: Literal["verified", "not_found", "unknown"], words: str, verdict: Verdict | None = None
    ) -> None:
        did = instruction_text(self._instruction)
        ending = InstructionEnding(status, f"{did}: {words}", did, verdict)
        if self._tried:
            finish(self._run, ending)
        else:
            self._run.end(ending)


def is_out_of_view(found: Found) -> bool:
    """Tell whether what was looked for may be further down: somebody looked, and nothing that shows is it.

    Things that came near are none ("Entry 33" is not "Entry 3"); several that fit would not be told apart by scrolling.
    """
    looked = [one.outcome for one in found.tried if one.method is not GroundingMethod.DIRECT]
    return found.status != "found" and "ambiguous" not in looked and ("nothing" in looked or "unsure" in looked)
