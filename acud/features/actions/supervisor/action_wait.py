"""The wait of an action: armed before anything is done, followed to its end, cancelled where the action fails."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from acud.base.errors import AcudError, Conflict
from acud.protocol.requests.waits import ActionWait, WaitCreate, WaitReply
from acud.supervisor.control import Call
from acud.supervisor.core import Core
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.waits.creation import WaitCreation
from acud.supervisor.wakes import FETCH_S
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Policy, Stable, Target, TextLeaf, WaitInfo, WaitSpec, WaitState
from acud.waits.conditions import is_local, leaves
from acud.waits.schedule import JUDGE_FPS
from acud.waits.sentences import with_meanings

_LONGEST_S = 3600.0
"""No action takes so long."""
_MAX_REASON = 500
"""Characters of why a wait was cancelled."""
_ACTING_S = 60.0
"""A wait that ends while its action is under way wakes nobody for so long: the answer of the call will tell."""
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
        self._creation = WaitCreation(core, wait, call, in_opened=in_opened)
        self._in_opened = in_opened
        self._until_s = core.clock.monotonic_s() + block_s
        self._armed: WaitReply | None = None
        self._frame = ("", 0, 0)
        self._ended: WaitInfo | None = None
        self._give_up: Callable[[], None] | None = None
        self._known_dialogs: frozenset[int] = frozenset()
        """Those on the wait's display that were there before, or did not stand still."""
        self._is_followed = False
        """Whether somebody is to be told of its end."""
        self._is_asked = False
        """Whether a dialog stands still that came since."""

    def arm(self, then: Callable[[], None], fail: Callable[[AcudError], None], *, acts: bool = True) -> None:
        """Arm it, then go on, once: it is stored by then, and sees every frame from now on. `acts`: something is done
        then, until `when_over`.
        """
        if self._armed is not None:
            then()
            return

        def armed(outcome: WaitReply | AcudError) -> None:
            if isinstance(outcome, AcudError):
                fail(outcome)
                return
            self._armed = outcome
            source = self._core.sources.by_name.get(outcome.wait.display)
            self._frame = (source.name, source.epoch, source.frame) if source is not None else self._frame
            self._known_dialogs = frozenset(self._dialogs())
            first = self._call.later(lambda _: self._follow(then, acts=acts))
            # What is there now must be known before anything is done, where only another look counts.
            asks_quiet = acts and any(isinstance(leaf, Stable) for leaf in leaves(outcome.wait.spec.until))
            within_s = _VERDICT_S if self._wait.policy.fresh else _LOOK_S if asks_quiet else 0.0
            if within_s and not self._in_opened:
                self._core.waits.when_judged(outcome.wait.wait_id, within_s, first, fetched_s=_ACTING_S)
            else:
                self._call.when_started(lambda: first(None))

        self._creation.begin(armed)

    def _follow(self, then: Callable[[], None], *, acts: bool) -> None:
        self._watch(_LONGEST_S, _ACTING_S, None)
        if acts:
            self._note_action(is_over=False)
        then()

    def _note_action(self, *, is_over: bool) -> None:
        if self._armed is not None:
            self._core.waits.note_action(self._armed.wait.wait_id, is_over=is_over)

    def note_launch(self, pid: int) -> None:
        """Let it look at the window that the program `pid` opens, which was launched just now."""
        assert self._armed is not None
        self._core.waits.note_launch(pid, self._armed.wait.wait_id if self._in_opened else "")

    def _watch(self, block_s: float, fetched_s: float, over: Callable[[], None] | None) -> None:
        assert self._armed is not None

        def told(info: WaitInfo, ended: bool) -> None:
            self._ended = info if ended else None
            if over is not None:
                over()

        self._give_up = self._core.waits.when_ended(self._armed.wait.wait_id, block_s, told, fetched_s=fetched_s)

    def _leave(self) -> None:
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
        self._leave()
        wait_id = self._armed.wait.wait_id
        try:
            self._core.waits.cancel(wait_id, reason[:_MAX_REASON])
        except Conflict:
            return f"its wait {wait_id} had ended before: {self._core.waits.find(wait_id).state.value}"
        return f"its wait {wait_id} is cancelled"

    def when_over(self, done: Callable[[], None], answer_s: float) -> None:
        """Call `done` when it has ended, when a dialog has come that asks for an answer, or when the call is to be
        answered, which takes `answer_s` more.

        What needed nothing to be done arms it here.
        """
        if self._armed is None:
            self.arm(lambda: self.when_over(done, answer_s), self._call.fail, acts=False)
            return
        self._note_action(is_over=True)
        self._leave()
        if self._ended is not None or self._is_asked:
            done()
            return
        left_s = self._until_s - self._core.clock.monotonic_s()
        over = self._call.later(lambda _: done())
        self._is_followed = True

        def ended() -> None:
            self._is_followed = False
            over(None)

        self._watch(max(left_s, 0.0), FETCH_S + answer_s, ended)
        self._look_for_dialogs(ended)

    # ---- dialogs that come meanwhile ---------------------------------------------------------------------------------

    def _dialogs(self) -> list[int]:
        watched = self._display
        return [] if watched is None else [one.window_id for one in watched.windows if one.kind == "dialog"]

    @property
    def _display(self) -> WatchedDisplay | None:
        assert self._armed is not None
        return self._core.watched_displays.by_name.get(self._armed.wait.display)

    def _look_for_dialogs(self, asked: Callable[[], None]) -> None:
        if not self._is_followed:
            return
        watched, new = self._display, [one for one in self._dialogs() if one not in self._known_dialogs]
        if watched is not None and new:
            target = Target(watched.name, window=str(new[0]))
            left_s = max(self._until_s - self._core.clock.monotonic_s(), _POLL_S)
            still = WaitSpec(Stable(_STILL_S, ignore_blinking=True), target, left_s)

            def stood(active: ActiveWait) -> None:
                is_still, now_s = active.state is WaitState.RESOLVED, self._core.clock.monotonic_s()
                self._stood(new[0], asked, now_s, is_still=is_still)

            self._core.waits.run_transient(still, watched, self._call.later(stood))
        elif watched is not None:
            again = self._call.later(lambda _: self._look_for_dialogs(asked))
            self._core.loop.call_later(_POLL_S, lambda: again(None))

    def _stood(self, dialog: int, asked: Callable[[], None], at_s: float, *, is_still: bool) -> None:
        """A judge that has not seen the dialog as it stood at `at_s` may find in it what is waited for."""
        assert self._armed is not None
        if not self._is_followed:
            return
        if is_still and self._core.waits.is_judging(self._armed.wait.wait_id, at_s):
            again = self._call.later(lambda _: self._stood(dialog, asked, at_s, is_still=True))
            self._core.loop.call_later(_POLL_S, lambda: again(None))
        elif is_still and dialog in self._dialogs():
            self._is_asked = True
            self._leave()
            asked()
        else:
            self._known_dialogs |= {dialog}
            self._look_for_dialogs(asked)

    def told(self) -> ActionWait | None:
        """Return how it stands (None: it was never armed)."""
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

    def seen(self) -> None:
        """The answer has left: its end, if that was told, needs no wake any more."""
        if self._ended is not None:
            self._core.wakes.mark_wait_seen(self._ended.wait_id)
