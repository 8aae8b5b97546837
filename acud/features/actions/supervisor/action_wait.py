"""The wait of an action: armed before anything is done, followed to its end, cancelled where the action fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from acud.base.errors import AcudError, Conflict
from acud.protocol.requests.waits import ActionWait, WaitCreate, WaitReply
from acud.supervisor.control import Call
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback, Resume, first, sleep
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.waits.creation import WaitCreation
from acud.supervisor.waits.end_polls import Polled
from acud.supervisor.wakes import FETCH_S
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Policy, Stable, Target, TextLeaf, WaitInfo, WaitSpec, WaitState
from acud.waits.condition_tree import is_local, leaves
from acud.waits.schedule import JUDGE_FPS
from acud.waits.sentences import with_meanings

_LONGEST_S = 3600.0
"""No action takes so long."""
_MAX_REASON = 500
"""Characters of why a wait was cancelled."""
_ACTING_S = 60.0
"""A wait that ends while its action is under way wakes nobody for so long: the call's answer reports it."""
_VERDICT_S, _LOOK_S = 20.0, 1.0
"""So long an action waits for the first verdict of a fresh wait, and for the first look of one that asks for quiet."""
_STILL_S = 2.0
"""A new dialog that stands still for so long asks for an answer: a bar moves, a notice goes."""
_POLL_S = 0.25
_ASKS = "a new dialog stands still: what is waited for may come only once it is answered"


def beside(wait: WaitCreate, target: Target, task_id: str) -> WaitCreate:
    """Return `wait` on the display, and of the task, of an action in `target`, where it names none itself.

    Text that is read here is read on every frame that is taken, since what an action brings may be gone in a moment.
    """
    named = wait.display or wait.target.strip().lower().startswith("display:")
    seen = replace(wait, display=wait.display if named else target.display, task_id=wait.task_id or task_id)
    quick = replace(seen.policy, min_interval_s=1 / JUDGE_FPS)
    is_free = all(
        isinstance(leaf, TextLeaf) or is_local(leaf) for leaf in leaves(with_meanings(wait.until, wait.judge))
    )
    return replace(seen, policy=quick) if is_free and seen.policy.min_interval_s == Policy().min_interval_s else seen


class FollowedWait:
    """The wait of one call, which is answered `block_s` after now at the latest. `in_opened`: it looks at the window
    that a launch opens (`note_launch`). Raises on making what is wrong with `wait`.
    """

    def __init__(self, core: Core, wait: WaitCreate, call: Call, block_s: float, *, in_opened: bool = False) -> None:
        self._core = core
        self._call = call
        self._wait = wait
        self._creation = WaitCreation(core, wait, in_opened=in_opened)
        self._in_opened = in_opened
        self._until_s = core.clock.monotonic_s() + block_s
        self._armed: WaitReply | None = None
        self._frame = ("", 0, 0)
        self._ended: WaitInfo | None = None
        self._give_up: Callable[[], None] | None = None
        self._known_dialogs: frozenset[int] = frozenset()
        """Those on the wait's display that were there before, or did not stand still."""
        self._is_asked = False
        """Whether a dialog stands still that came since."""

    async def arm(self, *, acts: bool = True) -> None:
        """Arm it, once: it is stored by then, and sees every frame from now on. `acts`: something is done then, until
        `await_end_or_dialog`.
        """
        if self._armed is not None:
            return
        self._armed = armed = await self._creation.create()
        source = self._core.sources.by_name.get(armed.wait.display)
        self._frame = (source.name, source.epoch, source.frame) if source is not None else self._frame
        self._known_dialogs = frozenset(self._find_dialogs())
        # What is there now must be known before anything is done, where only another look counts.
        asks_quiet = acts and any(isinstance(leaf, Stable) for leaf in leaves(armed.wait.spec.until))
        within_s = _VERDICT_S if self._wait.policy.fresh else _LOOK_S if asks_quiet else 0.0
        if within_s and not self._in_opened:
            judged = partial(self._core.waits.when_judged, armed.wait.wait_id, within_s, fetched_s=_ACTING_S)
            await Callback[Polled](judged)
        else:
            await self._call.started()
        self._watch_end(_LONGEST_S, _ACTING_S)
        if acts:
            self._note_action(is_over=False)

    def _note_action(self, *, is_over: bool) -> None:
        if self._armed is not None:
            self._core.waits.note_action(self._armed.wait.wait_id, is_over=is_over)

    def note_launch(self, pid: int) -> None:
        """Let it look at the window that the program `pid` opens, which was launched just now."""
        assert self._armed is not None
        self._core.waits.note_launch(pid, self._armed.wait.wait_id if self._in_opened else "")

    def _watch_end(self, block_s: float, fetched_s: float, resume: Resume[bool] | None = None) -> Callable[[], None]:
        assert self._armed is not None
        take = partial(self._take_end, resume)
        self._give_up = self._core.waits.when_ended(self._armed.wait.wait_id, block_s, take, fetched_s=fetched_s)
        return self._stop_watching

    def _take_end(self, resume: Resume[bool] | None, outcome: Polled | AcudError) -> None:
        self._ended = outcome.info if isinstance(outcome, Polled) and outcome.has_ended else None
        if resume is not None:
            resume(True)

    def _stop_watching(self) -> None:
        if self._give_up is not None:
            self._give_up()

    def cancel(self, reason: str) -> str:
        """End it without a verdict, for what was to bring it about has failed, for that `reason`; return what became of
        it ("": it was never armed).
        """
        return self.give_up(f"the action failed: {reason}")

    def give_up(self, reason: str) -> str:
        """End it without a verdict for that `reason`; return what became of it ("": it was never armed)."""
        if self._armed is None:
            return ""
        self._stop_watching()
        wait_id = self._armed.wait.wait_id
        try:
            self._core.waits.cancel(wait_id, reason[:_MAX_REASON])
        except Conflict:
            return f"its wait {wait_id} had ended before: {self._core.waits.find(wait_id).state.value}"
        return f"its wait {wait_id} is cancelled"

    async def await_end_or_dialog(self, answer_s: float) -> None:
        """Return when it has ended, when a dialog has come that asks for an answer, or when the call is to be answered,
        which takes `answer_s` more.

        An action that had nothing to do arms it here.
        """
        await self.arm(acts=False)
        self._note_action(is_over=True)
        self._stop_watching()
        if self._ended is None and not self._is_asked:
            await first(self._call.later, self._await_end(answer_s), self._await_question())

    async def _await_end(self, answer_s: float) -> bool:
        left_s = max(self._until_s - self._core.clock.monotonic_s(), 0.0)
        return await Callback[bool](partial(self._watch_end, left_s, FETCH_S + answer_s))

    def _find_dialogs(self) -> list[int]:
        watched = self._display
        return [] if watched is None else [one.window_id for one in watched.windows if one.kind == "dialog"]

    @property
    def _display(self) -> WatchedDisplay | None:
        assert self._armed is not None
        return self._core.watched_displays.by_name.get(self._armed.wait.display)

    async def _await_question(self) -> bool | None:
        """Return True once a new dialog stands still; None where no display is watched."""
        while (watched := self._display) is not None:
            new = next((one for one in self._find_dialogs() if one not in self._known_dialogs), None)
            if new is None:
                await sleep(self._core.loop, _POLL_S)
                continue
            left_s = max(self._until_s - self._core.clock.monotonic_s(), _POLL_S)
            spec = WaitSpec(Stable(_STILL_S, ignore_blinking=True), Target(watched.name, window=str(new)), left_s)
            still = await Callback[ActiveWait](partial(self._core.waits.run_transient, spec, watched))
            if still.state is WaitState.RESOLVED:
                await self._await_verdict()
                if new in self._find_dialogs():
                    self._is_asked = True
                    return True
            self._known_dialogs |= {new}
        return None

    async def _await_verdict(self) -> None:
        """Await a judge that has not seen the screen of now: it may find in it what is waited for."""
        assert self._armed is not None
        at_s = self._core.clock.monotonic_s()
        while self._core.waits.is_judging(self._armed.wait.wait_id, at_s):
            await sleep(self._core.loop, _POLL_S)

    def describe(self) -> ActionWait | None:
        """Return the wait's present state (None: it was never armed)."""
        if self._armed is None:
            return None
        wait = self._core.waits.find(self._armed.wait.wait_id)
        notes = self._armed.notes
        if self._ended is not None and self._held_before(wait):
            notes = (*notes, "it held already before anything was done")
        if self._is_asked and self._ended is None:
            notes = (*notes, _ASKS)
        return ActionWait(
            wait,
            self._ended is not None or wait.state is not WaitState.WATCHING,
            self._core.evidence_path(wait.evidence),
            notes,
            self._armed.woken_by,
        )

    def _held_before(self, wait: WaitInfo) -> bool:
        seen = wait.evidence
        if wait.state is not WaitState.RESOLVED or seen is None or not seen.name:
            return False
        name, epoch, frame = self._frame
        return (seen.display, seen.epoch) == (name, epoch) and seen.frame <= frame

    def mark_seen(self) -> None:
        """Note that the answer was sent: an end that it reports needs no wake any more."""
        if self._ended is not None:
            self._core.wakes.mark_wait_seen(self._ended.wait_id)
