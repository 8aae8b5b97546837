"""The instructions of one call, in order, until one fails; then what was to be waited for, and the picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from acud.accessibility.nodes import TEXT_INPUT
from acud.base.errors import AcudError, InvalidRequest
from acud.features.actions import instructions
from acud.features.actions.instructions import ClickOn, Instruction, PressKeys, instruction_text
from acud.features.actions.supervisor.action_wait import FollowedWait, beside
from acud.features.actions.supervisor.instruction import RunningInstruction, place_of
from acud.features.actions.supervisor.instruction_run import InstructionContext, InstructionRun
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.protocol.requests.looks import Picture
from acud.supervisor.control import Call, FaultGuard
from acud.types import Spent
from acud.types.action_effects import reading_line

if TYPE_CHECKING:
    from acud.features.actions.supervisor.feature import ActionsFeature

Thing = TypeVar("Thing")

_SETTLE_S = 0.3
_SETTLE_TIMEOUT_S = 2.0
"""A picture shows the display after this: what was clicked may still be drawing itself."""
_PICTURE_S = 2.0


class InstructionList:
    """The instructions of one call (often one) on their way.

    Raises on making, before anything is done: InvalidRequest for an instruction, view or target that means nothing;
    NotFound for its task; what is wrong with its wait.
    """

    def __init__(self, feature: ActionsFeature, request: GuiDo, call: Call) -> None:
        self._feature = feature
        self._request = request
        self._call = call
        self._said = (request.instruction, *request.then)
        self._parsed = [self._parse(number) for number in range(len(self._said))]
        self._until_s = feature.core.clock.monotonic_s() + request.block_s
        self._wait = self._followed()
        self._replies: list[DoReply] = []
        self._origin: InstructionRun | None = None
        self._running = self._made()

    def _parse(self, number: int) -> Instruction:
        try:
            return instructions.parse(self._said[number])
        except InvalidRequest as fault:
            if not self._request.then:
                raise
            raise InvalidRequest(f"instruction {number + 1}: {fault.message}", hint=fault.hint) from fault

    def _followed(self) -> FollowedWait | None:
        request = self._request
        if request.wait is None:
            return None
        place = place_of(self._feature, request, self._parsed[0])
        wait = beside(request.wait, place.target, place.task_id)
        return FollowedWait(self._feature.core, wait, self._call, request.block_s)

    # ---- one after the other -----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin the first one."""
        self._running.begin()

    def _made(self) -> RunningInstruction:
        number = len(self._replies)
        is_last = number + 1 == len(self._said)
        one = replace(self._request, instruction=self._said[number], expect=self._request.expect if is_last else None)
        caller = _StepCaller(self._call, self._feature.core.faults, self._did, self._failed)
        context = InstructionContext(self._wait, self._origin, is_last)
        return RunningInstruction(self._feature, one, caller, context)

    def _did(self, reply: DoReply) -> None:
        self._replies.append(reply)
        if self._origin is None and self._running.run.is_prepared:
            self._origin = self._running.run
        if len(self._replies) == len(self._said) or not _went_well(self._parsed[len(self._replies) - 1], reply):
            self._end(reply)
        elif self._feature.core.clock.monotonic_s() >= self._until_s:
            words = f"no time was left for more after {self._request.block_s:g} s"
            self._end(replace(reply, status="unfinished", message=words))
        else:
            self._next()

    def _next(self) -> None:
        try:
            self._running = self._made()
            self._running.begin()
        except AcudError as fault:
            self._failed(fault)

    def _failed(self, fault: AcudError) -> None:
        """Answer with the fault, with what was done before it and what became of the wait."""
        done, facts, words = len(self._replies), fault.facts, fault.message
        if self._request.then:
            said = instruction_text(self._parsed[done])
            facts = {**facts, "done": done, "failed": done + 1}
            words = f"instruction {done + 1} of {len(self._said)} ({said}) failed, {done} done: {words}"
        became = self._cancelled(words)
        self._call.fail(type(fault)(f"{words}{became}", hint=fault.hint, **facts))

    def _cancelled(self, reason: str) -> str:
        wait, self._wait = self._wait, None
        became = wait.cancel(reason) if wait is not None else ""
        return f"; {became}" if became else ""

    # ---- what came of them -------------------------------------------------------------------------------------------

    def _end(self, last: DoReply) -> None:
        reply = self._summary(last) if self._request.then else last
        if reply.left or last.status not in ("verified", "unverified"):
            self._show(replace(reply, message=f"{reply.message}{self._cancelled(reply.message)}"))
        elif self._wait is not None:
            self._wait.when_over(lambda: self._show(reply), _SETTLE_TIMEOUT_S + _PICTURE_S)
        else:
            self._show(reply)

    def _summary(self, last: DoReply) -> DoReply:
        """Return the answer of a list: `last`, with what was done before it and what is left."""
        replies, count = self._replies, len(self._said)
        good = [one for parsed, one in zip(self._parsed, replies, strict=False) if _went_well(parsed, one)]
        left = tuple(instruction_text(one) for one in self._parsed[len(replies) :])
        failed = "" if len(good) == len(replies) else f"; instruction {len(replies)} failed: {last.message}"
        over = f"; {last.message}" if last.status == "unfinished" else ""
        rest = f"; {len(left)} left untouched" if left else ""
        effects = [one.effects for one in replies if one.effects is not None]
        return replace(
            last,
            message=f"{len(good)} of {count} done{failed}{over}{rest}",
            done=tuple(map(_line, good)),
            left=left,
            displays=tuple(dict.fromkeys(one.display for one in replies)),
            baseline=next((one.baseline for one in replies if one.baseline), ""),
            spent=_added([one.spent for one in replies]),
            effects=effects[-1] if effects else None,
        )

    def _show(self, reply: DoReply) -> None:
        """Take the picture that was asked for, or answer."""
        if not self._request.picture:
            self._answer(reply)
            return
        watched = self._running.run.watched
        ask = PictureAsk("jpeg", self._request.max_side_px, self._request.quality)

        def pictured(outcome: Picture | AcudError) -> None:
            if isinstance(outcome, AcudError):
                self._answer(replace(reply, message=f"{reply.message} (no picture: {outcome})"))
            else:
                self._answer(replace(reply, picture=outcome))

        def settled(_: bool) -> None:
            self._feature.picture(watched, ask, self._call, pictured)

        self._feature.idle(watched, _SETTLE_S, _SETTLE_TIMEOUT_S, self._call.later(settled))

    def _answer(self, reply: DoReply) -> None:
        wait = self._wait
        told = reply if wait is None else replace(reply, wait=wait.told())
        kept = replace(told, picture=None, field=None, effects=None)
        self._call.reply(told, None if wait is None else wait.seen, kept)


class _StepCaller:
    """Takes the outcome of one instruction, once; its steps are parts of `call`, and what they raise is its outcome."""

    def __init__(
        self, call: Call, faults: FaultGuard, did: Callable[[DoReply], None], failed: Callable[[AcudError], None]
    ) -> None:
        self._call = call
        self._faults = faults
        self._did = did
        self._failed = failed
        self._is_over = False

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` as a part of the call; none is taken after the outcome."""

        def guarded(outcome: Thing) -> None:
            fault = None if self._is_over else self._faults.run_contained("gui_do", lambda: step(outcome))
            if fault is not None:
                self.fail(fault)

        return self._call.later(guarded)

    def touch(self) -> None:
        """Something is about to be done outside the store."""
        self._call.touch()

    def reply(self, body: DoReply, *, kept: DoReply) -> None:
        """Take the answer; the list says what is stored of it."""
        self._is_over = True
        self._did(body)

    def fail(self, fault: AcudError) -> None:
        """Take the fault."""
        if not self._is_over:
            self._is_over = True
            self._failed(fault)


def _went_well(instruction: Instruction, reply: DoReply) -> bool:
    """Tell whether the next instruction may follow: its effect was seen, or none has to show. Nobody can read some
    fields, keys may move a caret that stands there already, and a click may go into the field that has the focus.
    """
    if reply.status != "unverified":
        return reply.status == "verified"
    focus = reply.effects.focus if reply.effects is not None else None
    is_in_field = isinstance(instruction, ClickOn) and focus is not None and focus.role in TEXT_INPUT
    unread = reply.field is not None and reply.field.outcome == "unreadable"
    return unread or is_in_field or (isinstance(instruction, PressKeys) and reply.field is None)


def _line(reply: DoReply) -> str:
    read = reading_line(reply.field) if reply.field is not None else ""
    unseen = ": no effect was seen" if reply.status == "unverified" and reply.field is None else ""
    return f"{reply.did}: it {read}" if read else f"{reply.did}{unseen}"


def _added(spent: list[Spent]) -> Spent:
    return Spent(
        sum(one.cost_usd for one in spent), sum(one.evaluations for one in spent), sum(one.unpriced for one in spent)
    )
