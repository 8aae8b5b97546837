"""One instruction on its way: find, act, settle; its caller gets the outcome, with what happened besides.

Nothing is done before everything that the instruction names was found for sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Literal, NamedTuple, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from acud.base.errors import AcudError, Refused
from acud.features.actions.instructions import Instruction, instruction_text
from acud.features.actions.supervisor.action_sequence import ActionSequence
from acud.features.actions.supervisor.action_wait import FollowedWait
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.misdirection import explain
from acud.features.actions.supervisor.places import named_window, spot_of
from acud.features.actions.window_effects import EffectArea, effect_area, target_area, visible_middle
from acud.protocol.capture import Misdirection
from acud.protocol.observation import ObserveAsk, Observed
from acud.protocol.requests.gui import GuiDo
from acud.supervisor.coroutines import Callback, Steps, sleep
from acud.supervisor.fresh_frames import FreshTarget
from acud.supervisor.ports import InstructionCaller, Mapped, SearchRequest
from acud.supervisor.waits.active_waits import ActiveWait, ChangedShare, measure_change
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Change, Rect, Spent, Target, Verdict, WaitSpec, WindowInfo, modal_over, picture_views, window_at
from acud.types.action_effects import ActionEffects, FieldReading
from acud.types.actions import Action, CursorPosition, Move, Point
from acud.types.grounding import COVERED, Candidate, Found
from acud.waits.targets import find_monitor

_QUIET_S = 0.1
_QUIET_TIMEOUT_S = 0.6
"""What a pointer lights up on its way is over by then; what still changes does so by itself."""
_MOVED_S = 0.05
_UNCOVER_S = (0.1, 0.2, 0.4, 0.8)
"""Between looks at what is covered: the menu, list or tip over it may be just going."""
_ANSWER_S = 5.0
"""Looking at what else happened, and a picture, take no longer, as a rule."""


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


class InstructionOver(Exception):
    """Ends an instruction early: `ending` is its outcome."""

    def __init__(self, ending: InstructionEnding) -> None:
        super().__init__(ending.message)
        self.ending = ending


class InstructionRun:
    """One instruction of `request` on `watched`, whose steps are parts of `call`."""

    def __init__(
        self, steps: DisplaySteps, request: GuiDo, call: InstructionCaller, target: Target, context: InstructionContext
    ) -> None:
        self.steps, self.core = steps, steps.core
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
        """Where the effect can show; see `record_before`."""
        self.reached = 0
        """The X window that input is for (0: any); see `record_before`."""
        self.moving: tuple[Rect, ...] = ()
        """What of it changed by itself before anything was done."""
        self.later = call.later
        self._call = call

    watched: WatchedDisplay

    @property
    def origin(self) -> InstructionRun:
        """The run whose beginning effects are compared with: the first of the list on this display."""
        first = self._origin
        return first if first is not None and first.watched is self.watched else self

    def now_s(self) -> float:
        return self.core.clock.monotonic_s()

    async def hold_window(self) -> None:
        """Hold on to the window that the target names, whatever its title becomes. Raises: what keeps input from it."""
        when_known = partial(self.core.window_list_ready.when_known, self.watched)
        if not self.target.window:
            # The list is awaited all the same; a display without one is no fault yet.
            await Callback[AcudError | None](lambda resume: when_known(lambda _: resume(None)))
            return
        await Callback[None](when_known)
        window = named_window(self.watched, self.target.window)
        self.target = replace(self.target, window=str(window.window_id))
        dialog = modal_over(window.window_id, self.watched.windows)
        if dialog is not None:
            kept = Misdirection(window.window_id, dialog.window_id, is_kept=True)
            raise await explain(self.steps, self.watched, None, kept)

    async def record_before(self, *points: Point) -> None:
        """Record what there is before anything is done at `points` (none: by the keyboard), which window that is for,
        and where an effect of it can show.
        """
        asked = points[0] if points else None
        if not points and not self.watched.focused:
            # Without a focused window, as on a display without a window manager, the one under the pointer gets keys.
            pointer = (await self._sequence(CursorPosition()).run()).cursor
            if pointer is not None and window_at(self.watched.windows, pointer.x, pointer.y) is not None:
                points = (pointer,)
        self.windows, self.focused = self.watched.windows, self.watched.focused
        self.is_prepared = True
        self.reached = self._find_window(points)
        self.area = self._area(points)
        self.before = await self.observe(point=asked)

    def _find_window(self, points: Sequence[Point]) -> int:
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
        source = self.steps.pixels(self.watched)
        return Rect(0, 0, source.width, source.height)

    def observe(self, *, point: Point | None = None, hint: str | None = None) -> Steps[Observed]:
        """Return what is at `point`, or has the focus, among the widgets of the programs that were reached."""
        pids = {one.pid for one in self.watched.windows if one.window_id in self.area.family}
        pids |= {one.pid for one in self.new_windows()}
        asked = () if not pids or 0 in pids else tuple(sorted(pids))
        return self.steps.observe(self.watched, ObserveAsk(asked, point, hint))

    def read_text(self, box: Rect) -> Steps[Observed]:
        return self.steps.observe(self.watched, ObserveAsk(read_text=True), box)

    def new_windows(self) -> list[WindowInfo]:
        """Return the windows that opened since the instruction began, topmost first."""
        was = {one.window_id for one in self.windows}
        return [one for one in self.watched.windows if one.window_id not in was]

    async def find(
        self, description: str, *, verb: str = "", to: bool = False, may_be_disabled: bool = False
    ) -> Candidate:
        """Return the one thing that `description` fits. Raises: InstructionOver for anything else; nothing is done.

        `to`: it is where a drag goes. `may_be_disabled`: nothing is done to it itself.
        """
        found = await self.search(description, verb=verb, to=to, may_be_disabled=may_be_disabled)
        if found.status != "found":
            self.give_up(found, description)
        return found.candidates[0]

    async def search(
        self,
        description: str,
        *,
        verb: str = "",
        to: bool = False,
        place: Rect | None = None,
        may_be_disabled: bool = False,
    ) -> Found:
        """Return what was found for `description`; see `find`. `place`: search this box of the display instead of the
        target. Raises: InstructionOver for one thing that is disabled.
        """
        target = self.target if place is None else Target(self.watched.name, region=place)
        for looks in count():
            # What covers it may be just going, or be gone since: the first look may have had an old list of windows.
            may_uncover = looks == 0 or (
                looks < len(_UNCOVER_S) and any(one.kind == "popup" for one in self.watched.windows)
            )
            fresh = await self.core.fresh_frames.find(target)
            if not (fresh.picture.source.window_id and may_uncover):
                self._check_reach(fresh)
                found = await self._look_for(description, fresh, verb)
                if COVERED not in found.reason or not may_uncover:
                    break
            await sleep(self.core.loop, _UNCOVER_S[looks])
        if to:
            self.target_found = found
        else:
            self.found = found
        if found.status == "found" and found.candidates[0].disabled and not may_be_disabled:
            one = found.candidates[0]
            words = f"the {one.role} {one.label[:80]!r}" if one.label else f"the {one.role}"
            words = f"nothing was done: {words} at {one.point.x},{one.point.y} is disabled"
            raise InstructionOver(InstructionEnding("disabled", words))
        return found

    async def _look_for(self, description: str, fresh: FreshTarget, verb: str) -> Found:
        wanted = SearchRequest(description, self.request.backend, verb, task_id=self.request.task_id)
        return (await self.core.ports.finder.find(fresh, wanted, self._map_coordinates())).found

    def give_up(self, found: Found, description: str) -> NoReturn:
        """End without anything done, because of what was found. Raises: InstructionOver."""
        assert found.status != "found"
        words = f"nothing was done: {explain_search(found, description)}"
        raise InstructionOver(InstructionEnding(found.status, words))

    def _check_reach(self, fresh_target: FreshTarget) -> None:
        if fresh_target.picture.source.window_id:
            raise Refused(
                "the window is covered by another: what is done there would reach that one",
                hint="raise it first (window_raise of desktop_action, acud do window raise)",
            )

    def _map_coordinates(self) -> Mapped | None:
        """Return what coordinates mean: pixels of the picture whose view was given, else of the target."""
        if not self.request.view:
            return None
        source = self.steps.pixels(self.watched)
        spot = spot_of(
            Target(self.watched.name), picture_views.parse(self.request.view), self.watched, source.width, source.height
        )
        return lambda x, y: spot(Point(int(x), int(y)))

    async def act(self, *actions: Action) -> None:
        """Do `actions`, whose points are display pixels; the frame before the first one is the baseline."""
        if self._wait is not None:
            await self._wait.arm()
        progress = await self._sequence(*actions).run()
        self.baseline = self.baseline or progress.baseline
        self.pressed += progress.pressed

    def _sequence(self, *actions: Action) -> ActionSequence:
        reached = self.reached if self.is_prepared else 0
        return ActionSequence(self.steps, self.watched, actions, self.request.lease, self._call, reached)

    async def follow_wait(self) -> None:
        """Return when the wait after the last instruction has ended, or is followed no longer."""
        if self._wait is not None and self.is_last:
            await self._wait.await_end_or_dialog(_ANSWER_S)

    async def approach(self, point: Point) -> None:
        """Move the pointer there and let pass what that lights up, so that the effect alone is measured."""
        await self.act(Move(point))
        await self.let_movement_pass()
        self.baseline = ""

    async def let_movement_pass(self) -> None:
        """Let pass what moves, and record what goes on moving where an effect could show."""
        before = self.make_baseline()
        if await self.await_stillness():
            return
        box = (await self.change(_MOVED_S, baseline=before)).box
        self.moving = () if box is None else (box.shift(self.area.box.x, self.area.box.y),)

    def make_baseline(self) -> str:
        """Return the baseline of what the display shows now."""
        source = self.steps.pixels(self.watched)
        return self.core.waits.targets.make_token(source, source.frame)

    def await_stillness(self) -> Callback[bool]:
        """Await that what was reached has been still for a moment; False where it moves on for longer."""
        return self.steps.idle(self.watched, _QUIET_S, _QUIET_TIMEOUT_S, self.seen_in(self.area))

    def seen_in(self, area: EffectArea) -> Target:
        return Target(self.watched.name, region=area.box, ignore=area.ignore)

    async def change(
        self, timeout_s: float, settle_s: float = 0.0, *, area: EffectArea | None = None, baseline: str = ""
    ) -> ChangedShare:
        """Return what changed in `area` (None: where an effect can show) since the baseline, in its pixels."""
        change = Change(settle_s=settle_s, baseline=baseline or self.baseline)
        return measure_change(await self.judge(WaitSpec(change, self.seen_in(area or self.area), timeout_s)))

    def judge(self, spec: WaitSpec, payer: str = "", *, reads_back: bool = False) -> Callback[ActiveWait]:
        """Await the end of a wait that lives only as long as this step; see `run_transient`."""
        run = partial(self.core.waits.run_transient, spec, self.watched, payer=payer, reads_back=reads_back)
        return Callback(lambda resume: run(on_done=resume))

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


def explain_search(found: Found, description: str) -> str:
    words = description if len(description) <= 80 else description[:79] + "…"
    if found.status == "ambiguous":
        count = len(found.candidates)
        return f"{count} things fit {words!r}" if count > 1 else f"one thing fits {words!r}, but not surely"
    return f"{words!r}: {found.reason}"


def did_text(instruction: Instruction, candidate: Candidate) -> str:
    """Return what was done, and where, in one line."""
    point = candidate.point
    return f"{instruction_text(instruction)} at {point.x},{point.y} (found by {candidate.method.value})"
