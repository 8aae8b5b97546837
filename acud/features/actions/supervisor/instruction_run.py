"""One instruction on its way: find, act, settle, see whether it had an effect; its caller gets the outcome.

Nothing is done before everything that the instruction names was found for sure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from acud.errors import AcudError, Refused
from acud.features.actions.supervisor.action_sequence import ActionSequence
from acud.features.actions.supervisor.places import named_window, spot_of
from acud.protocol.requests.gui import GuiDo
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.ports import InstructionCaller, Mapped, SearchOutcome, SearchRequest
from acud.supervisor.waits import active_waits
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import (
    Answer,
    Change,
    Rect,
    Spent,
    Target,
    Until,
    Verdict,
    WaitSpec,
    WaitState,
    no,
    picture_views,
    unknown,
    yes,
)
from acud.types.actions import Action, Move, Point
from acud.types.grounding import Candidate, Found

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature


_QUIET_S = 0.1
_QUIET_TIMEOUT_S = 0.6
"""What a pointer lights up on its way is over by then; a target that still changes does so by itself."""

_RIM_PX = 8
"""Focus rings and shadows reach so far around a control."""

Next = Callable[[], None]
Thing = TypeVar("Thing")


class InstructionEnding(Struct, frozen=True):
    """How it ended, for the reply."""

    status: Literal["verified", "unverified", "ambiguous", "not_found", "unknown"]
    message: str
    did: str = ""
    verdict: Verdict | None = None


class InstructionRun:
    """One instruction of `request` on `watched`. `ended` is called once, with the ending or the fault.

    Every callback is a part of `call`: what it raises answers that call alone.
    """

    def __init__(
        self,
        feature: ActionsFeature,
        request: GuiDo,
        call: InstructionCaller,
        target: Target,
        ended: Callable[[InstructionEnding | AcudError], None],
    ) -> None:
        self.feature, self._core = feature, feature.core
        self.request = request
        self.target = target
        self.found: Found | None = None
        self.target_found: Found | None = None
        self.baseline = ""
        self.pressed: list[Point] = []
        self.spent = Spent()
        """What judging the effect took."""
        self.restless = False
        """Whether the target was changing by itself before anything was done."""
        self._call = call
        self._ended = ended
        self._over = False

    watched: WatchedDisplay

    # ---- endings ---------------------------------------------------------------------------------------------------

    def end(self, ending: InstructionEnding | AcudError) -> None:
        """End with `ending`, or a fault; only the first counts."""
        if not self._over:
            self._over = True
            self._ended(ending)

    def _later(self, step: Callable[[Thing], None]) -> Callable[[Thing | AcudError], None]:
        """Return `step` as a part of the call that an error skips and ends."""
        return self._call.later(lambda outcome: self.end(outcome) if isinstance(outcome, AcudError) else step(outcome))

    # ---- find ------------------------------------------------------------------------------------------------------

    def find(
        self,
        description: str,
        then: Callable[[Candidate], None],
        *,
        verb: str = "",
        to: bool = False,
        place: Rect | None = None,
        missing: Callable[[Found], None] | None = None,
    ) -> None:
        """Search for `description`, then go on with the one thing found; anything else is the end, and nothing is done.

        `to`: it is where a drag goes. `place`: search this box of the display instead of the target. `missing`: what to
        do where that one thing is not found, instead of ending.
        """
        target = self.target if place is None else Target(self.watched.name, region=place)

        def looked(outcome: SearchOutcome) -> None:
            if to:
                self.target_found = outcome.found
            else:
                self.found = outcome.found
            self._judge(outcome.found, description, then, missing)

        def on_target(fresh: FreshTarget) -> None:
            self._check_reach(fresh)
            wanted = SearchRequest(description, self.request.backend, verb, task_id=self.request.task_id)
            self._core.ports.finder.find(fresh, wanted, self._later(looked), self._mapped())

        self._core.fresh_frames.at(target, self._later(on_target))

    def _judge(
        self, found: Found, description: str, then: Callable[[Candidate], None], missing: Callable[[Found], None] | None
    ) -> None:
        if found.status == "found":
            then(found.candidates[0])
        elif missing is not None:
            missing(found)
        else:
            self.give_up(found, description)

    def give_up(self, found: Found, description: str) -> None:
        """End without anything done, because of what was found."""
        assert found.status != "found"
        self.end(InstructionEnding(found.status, f"nothing was done: {why(found, description)}"))

    def _check_reach(self, fresh_target: FreshTarget) -> None:
        if fresh_target.picture.source.window_id:
            raise Refused(
                "the window is covered by another: what is done there would reach that one",
                hint='raise it first: desktop_action {"type": "window", "do": "raise", "window": …}',
            )

    def _mapped(self) -> Mapped | None:
        """Return what coordinates mean: pixels of the picture whose view was given, else of the target."""
        if not self.request.view:
            return None
        source = self.feature.pixels(self.watched)
        spot = spot_of(
            Target(self.watched.name), picture_views.parse(self.request.view), self.watched, source.width, source.height
        )
        return lambda x, y: spot(Point(int(x), int(y)))

    # ---- act -------------------------------------------------------------------------------------------------------

    def act(self, actions: Sequence[Action], then: Next) -> None:
        """Do `actions`, whose points are display pixels; the frame before the first one is the baseline."""

        def done(_: None) -> None:
            self.baseline = self.baseline or sequence.progress.baseline
            self.pressed += sequence.progress.pressed
            then()

        sequence = ActionSequence(
            self.feature, self.watched, tuple(actions), self.request.lease, self._call.touch, self._later(done)
        )
        sequence.begin()

    def approach(self, point: Point, then: Next) -> None:
        """Move the pointer there and let pass what that lights up, so that the effect alone is measured."""

        def quiet() -> None:
            self.baseline = ""
            then()

        self.act((Move(point),), lambda: self.stand(quiet))

    def stand(self, then: Next) -> None:
        """Let pass what moves by itself, where the pointer stays as it is."""

        def quiet(idle: bool) -> None:
            self.restless = not idle
            then()

        self._idle(quiet)

    def settle(self, then: Next) -> None:
        """Go on when the display has been still for a moment, or after a longer one."""
        self._idle(lambda _: then())

    def _idle(self, then: Callable[[bool], None]) -> None:
        self.feature.idle(self.watched, _QUIET_S, _QUIET_TIMEOUT_S, self._call.later(then))

    def middle(self) -> Point:
        area = self._area()
        return Point(area.x + area.w // 2, area.y + area.h // 2)

    def changed(
        self, then: Callable[[active_waits.ChangedShare], None], timeout_s: float, settle_s: float = 0.0
    ) -> None:
        """Go on with what changed on the display since the baseline."""
        spec = WaitSpec(Change(settle_s=settle_s, baseline=self.baseline), Target(self.watched.name), timeout_s)

        def ended(active: ActiveWait) -> None:
            then(active_waits.changed_share(active))

        self._core.waits.run_transient(spec, self.watched, self._call.later(ended))

    # ---- verify ----------------------------------------------------------------------------------------------------

    def verify(self, did: str, *, beside: Rect | None = None, inside: Rect | None = None) -> None:
        """End with whether what was expected came in time.

        By default that is a change of the target: of all of it but `beside` (a button lights up for any click), or of
        the box `inside` alone (what is typed shows in its field). Boxes are in display pixels.
        """
        if self.request.timeout_s <= 0:
            self._verdict(did, unknown("not_judged", "no time was given to see an effect"))
            return
        if self.request.expect is None and self.restless and inside is None:
            self._verdict(
                did, unknown("engine", "the target changes by itself, so a change shows nothing: expect more")
            )
            return
        target = self._watched(beside, inside)
        spec = WaitSpec(self._until(), target, self.request.timeout_s, judge=self.request.judge)

        def ended(active: ActiveWait) -> None:
            self.spent = active.spent
            self._verdict(did, self._seen(active))

        self._core.waits.run_transient(spec, self.watched, self._call.later(ended), self.request.task_id)

    def _until(self) -> Until:
        expect = self.request.expect
        if expect is None:
            return Change(baseline=self.baseline)
        if isinstance(expect, Change) and not expect.baseline:
            return replace(expect, baseline=self.baseline)
        return expect

    def _watched(self, beside: Rect | None, inside: Rect | None) -> Target:
        if self.request.expect is not None:
            return self.target
        if inside is not None:
            return Target(self.watched.name, region=inside)
        if beside is None:
            return self.target
        area = self._area()
        rim = Rect(beside.x - _RIM_PX, beside.y - _RIM_PX, beside.w + 2 * _RIM_PX, beside.h + 2 * _RIM_PX)
        kept = rim.intersect(area)
        if kept is None or kept.area >= 0.9 * area.area:
            return self.target
        return replace(self.target, ignore=(kept.moved(-area.x, -area.y),))

    def _area(self) -> Rect:
        source = self.feature.pixels(self.watched)
        whole = Rect(0, 0, source.width, source.height)
        if self.target.region is not None:
            return self.target.region.intersect(whole) or whole
        if self.target.window:
            return named_window(self.watched, self.target.window).bounds.intersect(whole) or whole
        return whole

    def _seen(self, active: ActiveWait) -> Verdict:
        verdict = active.machine.verdict
        if active.state is WaitState.RESOLVED:
            return yes(verdict.detail) if verdict.answer is Answer.YES else verdict
        if verdict.answer is Answer.UNKNOWN:
            return verdict
        return no(verdict.detail or f"nothing changed in {self.request.timeout_s:g} s")

    def _verdict(self, did: str, verdict: Verdict) -> None:
        if verdict.answer is Answer.YES:
            self.end(InstructionEnding("verified", f"{did}: done, and the effect was seen", did, verdict))
        else:
            self.end(
                InstructionEnding("unverified", f"{did}: done; no effect was seen: {verdict.detail}", did, verdict)
            )


def why(found: Found, description: str) -> str:
    """Return why `found` is no answer to `description`."""
    words = description if len(description) <= 80 else description[:79] + "…"
    if found.status == "ambiguous":
        count = len(found.candidates)
        return f"{count} things fit {words!r}" if count > 1 else f"one thing fits {words!r}, but not surely"
    return f"{words!r}: {found.reason}"
