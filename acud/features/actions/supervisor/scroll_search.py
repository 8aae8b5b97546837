"""Scrolling: by so many turns, or until something is in view; over what scrolls, found among the widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from acud.features.actions.instructions import ScrollBy, ScrollUntil, instruction_text
from acud.features.actions.supervisor.effect_watch import add_effects, verify
from acud.features.actions.supervisor.instruction_run import InstructionEnding, InstructionRun
from acud.features.actions.window_effects import EffectArea, on_tiles
from acud.language.quotation_marks import unquote
from acud.protocol.observation import Scrollable
from acud.supervisor.coroutines import Steps
from acud.types import Rect, Verdict, yes
from acud.types.actions import Direction, Point, Scroll
from acud.types.grounding import Found, GroundingMethod

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


async def scroll_by(run: InstructionRun, instruction: ScrollBy) -> InstructionEnding:
    """Turn the wheel so many times over what is named, or over the largest thing that scrolls."""
    if instruction.at:
        point = (await run.find(instruction.at, may_be_disabled=True)).point
    else:
        middle = run.middle()
        await run.record_before(middle)
        places = (await run.observe(point=middle, hint="")).scrollables
        point = places[0].at if places else middle
    await run.record_before(point)
    await run.approach(point)
    await run.act(Scroll(instruction.direction, instruction.amount, point))
    did = f"{instruction_text(instruction)} (the wheel was turned at {point.x},{point.y})"
    return await verify(run, did, point)


Look = Callable[[], Steps[Found]]


class WheelSearch:
    """Turns the wheel over one place and looks after each turn: down to the end, then up to the other."""

    def __init__(self, run: InstructionRun, place: Scrollable, until_s: float) -> None:
        self.turned = 0
        self.is_late = False
        """Whether the time was over first."""
        self._run = run
        self._place = place
        self._until_s = until_s
        self._direction = Direction.DOWN
        self._clicks = 0
        self._amount = min(_WHEEL, max(1, place.box.h // _CLICK_PX))

    async def search(self, found: Found, look: Look) -> Found:
        """Turn and `look`, after a look that brought `found`, until one finds it; return what the last look brought."""
        while await self._turn_wheel():
            found = await look()
            if found.status == "found":
                break
        return found

    async def _turn_wheel(self) -> bool:
        """Turn once more; return whether something moved: False at both ends, and when the time is over."""
        run = self._run
        while True:
            self.is_late = run.now_s() > self._until_s
            if self.is_late:
                return False
            if self._clicks < _MOST_CLICKS:
                self._clicks += self._amount
                self.turned += 1
                run.baseline = ""
                await run.act(Scroll(self._direction, self._amount, self._place.at))
                area = on_tiles(EffectArea(self._place.box), run.screen)
                if (await run.change(_MOVES_S, _MOVES_SETTLE_S, area=area)).box is not None:
                    return True
            if self._direction is Direction.UP:
                return False
            self._direction, self._clicks = Direction.UP, 0


class ScrollSearch:
    """Scrolls until it is there: over what the instruction names, else over each thing that scrolls.

    Those that hold something of that name out of sight come first, as their program reports; then the largest.
    """

    def __init__(self, run: InstructionRun, instruction: ScrollUntil) -> None:
        self._run = run
        self._instruction = instruction
        self._until_s = run.now_s() + _SCROLL_S
        self._tried: list[tuple[int, int]] = []
        """The sizes of what was scrolled to both ends: scrolling one moves those in it."""
        self._turned = 0

    async def scroll(self) -> InstructionEnding:
        """Look first, as it may be in view already; then scroll one thing after the other."""
        run, found = self._run, await self._search_widget()
        if found.status == "found":
            return await self._end_in_view(found)
        if self._instruction.at:
            at = await run.find(self._instruction.at, may_be_disabled=True)
            await run.record_before(at.point)
            named = Scrollable(at.box if at.box is not None else self._find_scrolled_box(at.point), at.point)
        else:
            named = None
            await run.record_before(run.middle())
        while (place := named or await self._find_next()) is not None:
            self._tried.append((place.box.w, place.box.h))
            wheel = WheelSearch(run, place, self._until_s)
            found = await wheel.search(found, self._look_at_rest)
            self._turned += wheel.turned
            if found.status == "found":
                return await self._end_in_view(found)
            if wheel.is_late:
                return await self._make_ending("unknown", f"not met within {_SCROLL_S:.0f} s of scrolling")
            if named is not None:
                break
        places = "" if len(self._tried) == 1 else f" in {len(self._tried)} places"
        status: Literal["unknown", "not_found"] = "unknown" if found.status == "unknown" else "not_found"
        return await self._make_ending(status, f"scrolled to both ends{places}: {found.reason}")

    async def _search_widget(self) -> Found:
        """Return what was found. Raises: InstructionOver where scrolling would bring nothing else."""
        found = await self._run.search(self._instruction.to, may_be_disabled=True)
        if found.status != "found" and not is_out_of_view(found):
            self._run.give_up(found, self._instruction.to)
        return found

    async def _look_at_rest(self) -> Found:
        """Look, and where it is found look again once all is at rest: it may have been seen while it moved."""
        found = await self._search_widget()
        if found.status != "found":
            return found
        await self._run.await_stillness()
        return await self._run.search(self._instruction.to, may_be_disabled=True)

    def _find_scrolled_box(self, point: Point) -> Rect:
        """Return where a turn of the wheel at `point` can be seen, where no widget reports what scrolls there."""
        area = self._run.area.box
        return area if area.holds(point.x, point.y) else self._run.screen

    async def _find_next(self) -> Scrollable | None:
        """Return the next thing that scrolls, as it is now; where no widget reports any, what is in the middle."""
        middle = self._run.middle()
        now = await self._run.observe(point=middle, hint=unquote(self._instruction.to))
        left = [one for one in now.scrollables if (one.box.w, one.box.h) not in self._tried]
        if not left and not self._tried:
            return Scrollable(self._find_scrolled_box(middle), middle)
        return left[0] if left else None

    async def _end_in_view(self, found: Found) -> InstructionEnding:
        point = found.candidates[0].point
        seen = yes(f"in view at {point.x},{point.y} after {self._turned} turns of the wheel")
        return await self._make_ending("verified", seen.detail, seen)

    async def _make_ending(
        self, status: Literal["verified", "not_found", "unknown"], words: str, verdict: Verdict | None = None
    ) -> InstructionEnding:
        did = instruction_text(self._instruction)
        ending = InstructionEnding(status, f"{did}: {words}", did, verdict)
        return await add_effects(self._run, ending) if self._tried else ending


def is_out_of_view(found: Found) -> bool:
    """Return whether what was looked for may be further down: a method looked, and nothing that shows is it.

    Things that came near are none ("Entry 33" is not "Entry 3"); scrolling would not tell apart several that fit.
    """
    looked = [one.outcome for one in found.tried if one.method is not GroundingMethod.DIRECT]
    return found.status != "found" and "ambiguous" not in looked and ("nothing" in looked or "unsure" in looked)
