"""One instruction on its way: find, act, settle; its caller gets the outcome, with what happened besides.

Nothing is done before everything that the instruction names was found for sure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, Refused
from acud.features.actions.instructions import Instruction, instruction_text
from acud.features.actions.supervisor.action_sequence import ActionSequence
from acud.features.actions.supervisor.action_wait import FollowedWait
from acud.features.actions.supervisor.misdirection import explain
from acud.features.actions.supervisor.places import named_window, spot_of
from acud.features.actions.window_effects import EffectArea, effect_area, target_area, visible_middle
from acud.protocol.capture import Misdirection
from acud.protocol.observation import ObserveAsk, Observed
from acud.protocol.requests.gui import GuiDo
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.ports import InstructionCaller, Mapped, SearchOutcome, SearchRequest
from acud.supervisor.waits import active_waits
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Change, Rect, Spent, Target, Verdict, WaitSpec, WindowInfo, modal_over, picture_views, window_at
from acud.types.action_effects import ActionEffects, FieldReading
from acud.types.actions import Action, CursorPosition, Move, Point
from acud.types.grounding import COVERED, Candidate, Found
from acud.waits.targets import find_monitor

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature


_QUIET_S = 0.1
_QUIET_TIMEOUT_S = 0.6
"""What a pointer lights up on its way is over by then; what still changes does so by itself."""
_MOVED_S = 0.05
_UNCOVER_S = (0.1, 0.2, 0.4, 0.8)
"""Between looks at what is covered: the menu, list or tip over it may be just going."""
_ANSWER_S = 5.0
"""Looking at what else happened, and a picture, take no longer, as a rule."""

Next = Callable[[], None]
Thing = TypeVar("Thing")


class InstructionEnding(Struct, frozen=True):
    """How it ended, for the reply."""

    status: Literal["verified", "unverified", "ambiguous", "disabled", "not_found", "unknown"]
    message: str
    did: str = ""
    verdict: Verdict | None = None
    field: FieldReading | None = None
    effects: ActionEffects | None = None


class InstructionContext(NamedTuple):
    """What an instruction is a part of. `wait` is armed before anything is done, and over before the last one ends.
    `origin`: the first of its list (None: it is that).
    """

    wait: FollowedWait | None = None
    origin: InstructionRun | None = None
    is_last: bool = True


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
        context: InstructionContext,
    ) -> None:
        self.feature, self.core = feature, feature.core
        self.request = request
        self.target = target
        self._origin = context.origin
        self._wait = context.wait
        self.is_last = context.is_last
        self.found: Found | None = None
        self.target_found: Found | None = None
        self.baseline = ""
        self.pressed: list[Point] = []
        self.spent = Spent()
        """What judging the effect took."""
        self.windows: tuple[WindowInfo, ...] = ()
        """Those that were there before anything was done."""
        self.focused = 0
        self.is_prepared = False
        """Whether it is known what there was before anything was done."""
        self.before = Observed()
        self.area = EffectArea(Rect(0, 0, 0, 0))
        """Where the effect can show; see `prepare`."""
        self.reached = 0
        """The X window that input is for (0: any); see `prepare`."""
        self.moving: tuple[Rect, ...] = ()
        """What of it changed by itself before anything was done."""
        self.later = call.later
        self._call = call
        self._ended = ended
        self._over = False

    watched: WatchedDisplay

    # ---- endings ---------------------------------------------------------------------------------------------------

    @property
    def origin(self) -> InstructionRun:
        """The run whose beginning effects are told against: the first of the list on this display."""
        first = self._origin
        return first if first is not None and first.watched is self.watched else self

    def end(self, ending: InstructionEnding | AcudError) -> None:
        """End with `ending`, or a fault; only the first counts."""
        if not self._over:
            self._over = True
            self._ended(ending)

    def _step(self, step: Callable[[Thing], None]) -> Callable[[Thing | AcudError], None]:
        """Return `step` as a part of the call that an error skips and ends."""
        return self.later(lambda outcome: self.end(outcome) if isinstance(outcome, AcudError) else step(outcome))

    # ---- begin -----------------------------------------------------------------------------------------------------

    def begin(self, then: Next) -> None:
        """Hold on to the window that the target names, whatever its title becomes; then go on."""

        def known(fault: AcudError | None) -> None:
            if self.target.window and fault is not None:
                self.end(fault)
                return
            if self.target.window:
                window = named_window(self.watched, self.target.window)
                self.target = replace(self.target, window=str(window.window_id))
                dialog = modal_over(window.window_id, self.watched.windows)
                if dialog is not None:
                    kept = Misdirection(window.window_id, dialog.window_id, is_kept=True)
                    explain(self.feature, self.watched, None, kept, self.later(self.end))
                    return
            then()

        self.core.window_list_ready.when_known(self.watched, self.later(known))

    def prepare(self, points: Sequence[Point], then: Next) -> None:
        """Take down what there is before anything is done at `points` (none: by the keyboard), which window that is
        for, and where an effect of it can show.
        """
        if points or self.watched.focused:
            self._prepared(points, points[0] if points else None, then)
        else:
            # Without a focused window, as on a display without a window manager, the one under the pointer gets keys.
            self._at_pointer(lambda pointer: self._prepared((pointer,) if pointer is not None else (), None, then))

    def _at_pointer(self, then: Callable[[Point | None], None]) -> None:
        def known(_: None) -> None:
            pointer = sequence.progress.cursor
            is_over = pointer is not None and window_at(self.watched.windows, pointer.x, pointer.y) is not None
            then(pointer if is_over else None)

        sequence = ActionSequence(
            self.feature, self.watched, (CursorPosition(),), self.request.lease, self._call.touch, self._step(known)
        )
        sequence.begin()

    def _prepared(self, points: Sequence[Point], asked: Point | None, then: Next) -> None:
        self.windows, self.focused = self.watched.windows, self.watched.focused
        self.is_prepared = True
        self.reached = self._window(points)
        self.area = self._area(points)

        def observed(before: Observed) -> None:
            self.before = before
            then()

        self.observe(observed, point=asked)

    def _window(self, points: Sequence[Point]) -> int:
        if self.target.window:
            return named_window(self.watched, self.target.window).window_id
        if not points:
            return self.focused
        window = window_at(self.windows, points[0].x, points[0].y)
        return window.window_id if window is not None else 0

    def _area(self, points: Sequence[Point]) -> EffectArea:
        screen, target = self.screen, self.target
        windows = self.watched.windows
        if target.window:
            return target_area(screen, windows, named_window(self.watched, target.window))
        reached = effect_area(screen, windows, points, self.watched.focused)
        monitor = find_monitor(target.monitor, self.watched.monitors) if target.monitor else None
        box = target.region or (monitor.bounds if monitor is not None else None)
        inside = box.intersect(screen) if box is not None else None
        return reached if inside is None else EffectArea(inside, family=reached.family)

    @property
    def screen(self) -> Rect:
        """The whole display."""
        source = self.feature.pixels(self.watched)
        return Rect(0, 0, source.width, source.height)

    def observe(self, then: Callable[[Observed], None], *, point: Point | None = None, hint: str | None = None) -> None:
        """Go on with what is at `point`, or has the focus, among the widgets of the programs that were reached."""
        pids = {one.pid for one in self.watched.windows if one.window_id in self.area.family}
        pids |= {one.pid for one in self.new_windows()}
        asked = () if not pids or 0 in pids else tuple(sorted(pids))
        self.feature.observe(self.watched, ObserveAsk(asked, point, hint), self.later(then))

    def new_windows(self) -> list[WindowInfo]:
        """Return the windows that were not there before, topmost first."""
        was = {one.window_id for one in self.windows}
        return [one for one in self.watched.windows if one.window_id not in was]

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
        may_be_disabled: bool = False,
        looks: int = 0,
    ) -> None:
        """Search for `description`, then go on with the one thing found; anything else is the end, and nothing is done.

        `to`: it is where a drag goes. `place`: search this box of the display instead of the target. `missing`: what to
        do where that one thing is not found, instead of ending. `may_be_disabled`: nothing is done to it itself.
        `looks`: how often it was covered so far.
        """
        target = self.target if place is None else Target(self.watched.name, region=place)
        # What covers it may be just going, or be gone since: the first look may have had an old list of windows.
        may_uncover = looks == 0 or (
            looks < len(_UNCOVER_S) and any(one.kind == "popup" for one in self.watched.windows)
        )

        def look_again(_: object) -> None:
            self.find(
                description, then, verb=verb, to=to, place=place, missing=missing, may_be_disabled=may_be_disabled,
                looks=looks + 1,
            )  # fmt: skip

        def looked(outcome: SearchOutcome) -> None:
            if COVERED in outcome.found.reason and may_uncover:
                again()
                return
            if to:
                self.target_found = outcome.found
            else:
                self.found = outcome.found
            if outcome.found.status == "found" and outcome.found.candidates[0].disabled and not may_be_disabled:
                self._end_disabled(outcome.found.candidates[0])
            else:
                self._judge(outcome.found, description, then, missing)

        def again() -> None:
            step = self.later(look_again)
            self.core.loop.call_later(_UNCOVER_S[looks], lambda: step(None))

        def on_target(fresh: FreshTarget) -> None:
            if fresh.picture.source.window_id and may_uncover:
                again()
                return
            self._check_reach(fresh)
            wanted = SearchRequest(description, self.request.backend, verb, task_id=self.request.task_id)
            self.core.ports.finder.find(fresh, wanted, self._step(looked), self._mapped())

        self.core.fresh_frames.at(target, self._step(on_target))

    def _judge(
        self, found: Found, description: str, then: Callable[[Candidate], None], missing: Callable[[Found], None] | None
    ) -> None:
        if found.status == "found":
            then(found.candidates[0])
        elif missing is not None:
            missing(found)
        else:
            self.give_up(found, description)

    def _end_disabled(self, one: Candidate) -> None:
        words = f"the {one.role} {one.label[:80]!r}" if one.label else f"the {one.role}"
        self.end(InstructionEnding("disabled", f"nothing was done: {words} at {one.point.x},{one.point.y} is disabled"))

    def give_up(self, found: Found, description: str) -> None:
        """End without anything done, because of what was found."""
        assert found.status != "found"
        self.end(InstructionEnding(found.status, f"nothing was done: {why(found, description)}"))

    def _check_reach(self, fresh_target: FreshTarget) -> None:
        if fresh_target.picture.source.window_id:
            raise Refused(
                "the window is covered by another: what is done there would reach that one",
                hint="raise it first (window_raise of desktop_action, acud do window raise)",
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
        if self._wait is None:
            self._act(actions, then)
        else:
            self._wait.arm(lambda: self._act(actions, then), self.end)

    def _act(self, actions: Sequence[Action], then: Next) -> None:

        def done(_: None) -> None:
            self.baseline = self.baseline or sequence.progress.baseline
            self.pressed += sequence.progress.pressed
            then()

        sequence = ActionSequence(
            self.feature,
            self.watched,
            tuple(actions),
            self.request.lease,
            self._call.touch,
            self._step(done),
            self.reached,
        )
        sequence.begin()

    def when_awaited(self, then: Next) -> None:
        """Go on when what is waited for after the last instruction has come, or is waited for no longer."""
        if self._wait is None or not self.is_last:
            then()
        else:
            over = self.later(lambda _: then())
            self._wait.when_over(lambda: over(None), _ANSWER_S)

    def approach(self, point: Point, then: Next) -> None:
        """Move the pointer there and let pass what that lights up, so that the effect alone is measured."""

        def quiet() -> None:
            self.baseline = ""
            then()

        self.act((Move(point),), lambda: self.stand(quiet))

    def stand(self, then: Next) -> None:
        """Let pass what moves, and take down what goes on moving where an effect could show."""
        source = self.feature.pixels(self.watched)
        token = self.core.waits.targets.token(source, source.frame)

        def moved(share: active_waits.ChangedShare) -> None:
            box = share.box
            self.moving = () if box is None else (box.shift(self.area.box.x, self.area.box.y),)
            then()

        def quiet(idle: bool) -> None:
            if idle:
                then()
            else:
                self.changed(moved, _MOVED_S, baseline=token)

        self._idle(quiet)

    def settle(self, then: Next) -> None:
        """Go on when what was reached has been still for a moment, or after a longer one."""
        self._idle(lambda _: then())

    def _idle(self, then: Callable[[bool], None]) -> None:
        self.feature.idle(self.watched, _QUIET_S, _QUIET_TIMEOUT_S, self.later(then), self.seen_in(self.area))

    def seen_in(self, area: EffectArea) -> Target:
        """Return `area` as a target."""
        return Target(self.watched.name, region=area.box, ignore=area.ignore)

    def changed(
        self,
        then: Callable[[active_waits.ChangedShare], None],
        timeout_s: float,
        settle_s: float = 0.0,
        *,
        area: EffectArea | None = None,
        baseline: str = "",
    ) -> None:
        """Go on with what changed in `area` (None: where an effect can show) since the baseline, in its pixels."""
        change = Change(settle_s=settle_s, baseline=baseline or self.baseline)
        spec = WaitSpec(change, self.seen_in(area or self.area), timeout_s)

        def ended(active: ActiveWait) -> None:
            then(active_waits.measure_change(active))

        self.core.waits.run_transient(spec, self.watched, self.later(ended))

    def middle(self) -> Point:
        """Return the middle of what can be seen of the target: of the focused window, or the topmost, on a screen."""
        target, screen = self.target, self.screen
        windows = [one for one in self.watched.windows if one.visibility != "unmapped" and one.kind != "popup"]
        if target.window:
            windows = [named_window(self.watched, target.window)]
        elif target.region is None and not target.monitor:
            windows.sort(key=lambda one: one.window_id != self.watched.focused)
        else:
            windows = []
        points = (visible_middle(one, self.watched.windows, screen) for one in windows)
        found = next((point for point in points if point is not None), None)
        box = self._area(()).box if target.region is not None or target.monitor else screen
        return found or Point(box.x + box.w // 2, box.y + box.h // 2)


def why(found: Found, description: str) -> str:
    """Return why `found` is no answer to `description`."""
    words = description if len(description) <= 80 else description[:79] + "…"
    if found.status == "ambiguous":
        count = len(found.candidates)
        return f"{count} things fit {words!r}" if count > 1 else f"one thing fits {words!r}, but not surely"
    return f"{words!r}: {found.reason}"


def did_text(instruction: Instruction, found: Candidate) -> str:
    """Return what was done, and where, in one line."""
    return f"{instruction_text(instruction)} at {found.point.x},{found.point.y} (found by {found.method.value})"
