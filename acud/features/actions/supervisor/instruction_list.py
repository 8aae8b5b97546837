"""The instructions of one call, in order, until one fails; then what was to be waited for, and the picture."""

from __future__ import annotations

from msgspec.structs import replace

from acud.accessibility.nodes import TEXT_INPUT
from acud.base.errors import AcudError, InvalidRequest
from acud.features.actions import instructions
from acud.features.actions.instructions import ClickOn, Instruction, PressKeys, instruction_text
from acud.features.actions.supervisor.action_wait import FollowedWait, beside
from acud.features.actions.supervisor.display_steps import DisplaySteps
from acud.features.actions.supervisor.instruction import RunningInstruction, place_of
from acud.features.actions.supervisor.instruction_run import InstructionContext, InstructionRun
from acud.protocol.questions import PictureAsk
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.control import Call
from acud.supervisor.coroutines import StepTask
from acud.types import Spent
from acud.types.action_effects import reading_line

_SETTLE_S = 0.3
_SETTLE_TIMEOUT_S = 2.0
"""A picture shows the display after this: what was clicked may still be drawing itself."""
_PICTURE_S = 2.0


class InstructionList:
    """The instructions of one call (often one) on their way.

    Raises on making, before anything is done: InvalidRequest for an instruction, view or target that means nothing;
    NotFound for its task; what is wrong with its wait.
    """

    def __init__(self, steps: DisplaySteps, request: GuiDo, call: Call) -> None:
        self._steps = steps
        self._request = request
        self._call = call
        self._words = (request.instruction, *request.then)
        self._parsed = [self._parse_instruction(number) for number in range(len(self._words))]
        self._now_s = steps.core.clock.monotonic_s
        self._until_s = self._now_s() + request.block_s
        self._wait = self._create_wait()
        self._replies: list[DoReply] = []
        self._origin: InstructionRun | None = None
        self._running = self._make_next()

    def _parse_instruction(self, number: int) -> Instruction:
        try:
            return instructions.parse(self._words[number])
        except InvalidRequest as fault:
            if not self._request.then:
                raise
            raise InvalidRequest(f"instruction {number + 1}: {fault.message}", hint=fault.hint) from fault

    def _create_wait(self) -> FollowedWait | None:
        request = self._request
        if request.wait is None:
            return None
        place = place_of(self._steps, request, self._parsed[0])
        wait = beside(request.wait, place.target, place.task_id)
        return FollowedWait(self._steps.core, wait, self._call, request.block_s)

    def _make_next(self) -> RunningInstruction:
        number = len(self._replies)
        is_last = number + 1 == len(self._words)
        one = replace(self._request, instruction=self._words[number], expect=self._request.expect if is_last else None)
        return RunningInstruction(self._steps, one, self._call, InstructionContext(self._wait, self._origin, is_last))

    def begin(self) -> None:
        """Begin the instructions; their outcome answers the call."""
        StepTask(self._carry_out(), self._call.later, self._send_reply).begin()

    async def _carry_out(self) -> DoReply:
        """Carry out one after the other, until one fails; return the answer. Raises: AcudError."""
        while True:
            with self._steps.core.faults.guard("gui_do"):
                reply = await self._running.carry_out()
            self._replies.append(reply)
            if self._origin is None and self._running.run.is_prepared:
                self._origin = self._running.run
            if len(self._replies) == len(self._words) or not _went_well(self._parsed[len(self._replies) - 1], reply):
                break
            if self._now_s() >= self._until_s:
                words = f"no time was left for more after {self._request.block_s:g} s"
                reply = replace(reply, status="unfinished", message=words)
                break
            self._running = self._make_next()
        if self._request.then:
            reply = self._summarise_replies(reply)
        if reply.left or reply.status not in ("verified", "unverified"):
            reply = replace(reply, message=f"{reply.message}{self._cancel_wait(reply.message)}")
        elif self._wait is not None:
            await self._wait.await_end_or_dialog(_SETTLE_TIMEOUT_S + _PICTURE_S)
        return await self._add_picture(reply) if self._request.picture else reply

    def _send_reply(self, outcome: DoReply | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self._send_fault(outcome)
            return
        wait = self._wait
        reply = outcome if wait is None else replace(outcome, wait=wait.describe())
        kept = replace(reply, picture=None, field=None, effects=None)
        self._call.reply(reply, None if wait is None else wait.mark_seen, kept)

    def _send_fault(self, fault: AcudError) -> None:
        """Answer with the fault, with what was done before it and what became of the wait."""
        done, facts, words = len(self._replies), fault.facts, fault.message
        if self._request.then and done < len(self._parsed):
            failed = instruction_text(self._parsed[done])
            facts = {**facts, "done": done, "failed": done + 1}
            words = f"instruction {done + 1} of {len(self._words)} ({failed}) failed, {done} done: {words}"
        self._call.fail(type(fault)(f"{words}{self._cancel_wait(words)}", hint=fault.hint, **facts))

    def _cancel_wait(self, reason: str) -> str:
        wait, self._wait = self._wait, None
        outcome = wait.cancel(reason) if wait is not None else ""
        return f"; {outcome}" if outcome else ""

    def _summarise_replies(self, last: DoReply) -> DoReply:
        """Return the answer of a list: `last`, with what was done before it and what is left."""
        replies, count = self._replies, len(self._words)
        good = [one for parsed, one in zip(self._parsed, replies, strict=False) if _went_well(parsed, one)]
        left = tuple(instruction_text(one) for one in self._parsed[len(replies) :])
        failed = "" if len(good) == len(replies) else f"; instruction {len(replies)} failed: {last.message}"
        over = f"; {last.message}" if last.status == "unfinished" else ""
        rest = f"; {len(left)} left untouched" if left else ""
        effects = [one.effects for one in replies if one.effects is not None]
        return replace(
            last,
            message=f"{len(good)} of {count} done{failed}{over}{rest}",
            done=tuple(map(_describe_reply, good)),
            left=left,
            displays=tuple(dict.fromkeys(one.display for one in replies)),
            baseline=next((one.baseline for one in replies if one.baseline), ""),
            spent=_sum_spent([one.spent for one in replies]),
            effects=effects[-1] if effects else None,
        )

    async def _add_picture(self, reply: DoReply) -> DoReply:
        watched = self._running.run.watched
        ask = PictureAsk("jpeg", self._request.max_side_px, self._request.quality)
        await self._steps.idle(watched, _SETTLE_S, _SETTLE_TIMEOUT_S)
        try:
            return replace(reply, picture=await self._steps.picture(watched, ask))
        except AcudError as fault:
            return replace(reply, message=f"{reply.message} (no picture: {fault})")


def _went_well(instruction: Instruction, reply: DoReply) -> bool:
    """Return whether the next instruction may follow: its effect was seen, or none has to show. Some fields cannot
    be read, keys may move a caret that stands there already, and a click may go into the field that has the focus.
    """
    if reply.status != "unverified":
        return reply.status == "verified"
    focus = reply.effects.focus if reply.effects is not None else None
    is_in_field = isinstance(instruction, ClickOn) and focus is not None and focus.role in TEXT_INPUT
    unread = reply.field is not None and reply.field.outcome == "unreadable"
    return unread or is_in_field or (isinstance(instruction, PressKeys) and reply.field is None)


def _describe_reply(reply: DoReply) -> str:
    read = reading_line(reply.field) if reply.field is not None else ""
    unseen = ": no effect was seen" if reply.status == "unverified" and reply.field is None else ""
    return f"{reply.did}: it {read}" if read else f"{reply.did}{unseen}"


def _sum_spent(costs: list[Spent]) -> Spent:
    return Spent(
        sum(one.cost_usd for one in costs), sum(one.evaluations for one in costs), sum(one.unpriced for one in costs)
    )
