"""Drives one run: carries out its machine's effects (questions, instructions, waits) and returns the outcomes to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from acud.base import log
from acud.base.errors import AcudError, Unavailable
from acud.features.agent import machine, prompt
from acud.features.agent.machine import Await, Check, Checked, Did, End, Run, RunInstruction, Stopped, Think
from acud.features.agent.settings import GuiAgentSettings
from acud.process.event_loop import Timer
from acud.protocol.evaluation import JobResult, Thought
from acud.protocol.questions import ThinkAsk, View
from acud.protocol.requests.daemon import Purpose
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.control import FaultGuard
from acud.supervisor.core import Core
from acud.supervisor.coroutines import Callback, Resume, StepTask, directly
from acud.supervisor.job_queues import Lane
from acud.supervisor.screenshots import ScreenshotTarget, view_of
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Answer, Criteria, JudgeChoice, JudgeName, Until, WaitSpec
from acud.types.agent_runs import RunInfo, RunState
from acud.types.chat import ChatMessage
from acud.waits.schedule import NORMAL_PRIORITY
from acud.waits.targets import parse_target

_LOG = log.logger("agent")


class Driver:
    """Drives one run on `watched`. `on_step` is called after each step and at the end."""

    def __init__(self, run: RunInfo, watched: WatchedDisplay, core: Core, on_step: Callable[[Driver], None]) -> None:
        self._run = run
        self._watched = watched
        self._core = core
        self._stepped = on_step
        self._machine = Run(run.spec, core.clock.monotonic_s())
        self._view = ""
        self._timer: Timer | None = None

    @property
    def info(self) -> RunInfo:
        end = self._machine.ended
        run = replace(self._run, steps=tuple(self._machine.steps), spent=self._machine.spent)
        return run if end is None else replace(run, state=end.state, reason=end.reason, evidence=end.evidence)

    def begin(self) -> None:
        """Start the run; its time limit is a timer, so that no model call delays it."""
        limit_s = self._run.spec.limits.max_time_s
        reason = f"the time limit of {limit_s:g} s is over"
        self._timer = self._core.loop.call_later(limit_s, lambda: self.stop(RunState.ESCALATED, reason))
        self._task = StepTask(self._carry_out_effects(), directly, self._on_end)
        self._task.begin()

    def stop(self, state: RunState, reason: str) -> None:
        """End it from outside: the current effect goes no further, and its outcome is ignored."""
        if self._machine.take_event(Stopped(self._now(), state, reason)) is not None:
            self._stepped(self)
            self._task.cancel()
            self._end_run()

    async def _carry_out_effects(self) -> None:
        """Carry out one effect after the other, until one ends the run."""
        effect: machine.Effect | None = self._machine.begin()
        while effect is not None and not isinstance(effect, End):
            effect = self._machine.take_event(await self._carry_out(effect))
            if effect is not None:
                self._stepped(self)

    def _on_end(self, outcome: AcudError | None) -> None:
        if outcome is not None:
            self.stop(RunState.ESCALATED, str(outcome))
        else:
            self._end_run()

    def _end_run(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        _LOG.info("agent.ended", run=self._run.run_id, state=self.info.state.value, steps=len(self._machine.steps))

    async def _carry_out(self, effect: Think | RunInstruction | Await | Check) -> machine.Event:
        match effect:
            case Think(messages=messages):
                return await self._ask_model(messages)
            case RunInstruction():
                return await self._run_instruction(effect)
            case Await(until=words, timeout_s=timeout_s):
                active = await self._run_wait(Criteria(words), timeout_s)
                verdict, (calls, cost) = active.machine.verdict, _get_cost(active)
                seen = verdict.answer is Answer.YES
                return Did(self._now(), "seen" if seen else "not seen", verdict.detail, seen, calls, cost)
            case Check(words=words):
                until = self._run.spec.expect or Criteria(words)
                active = await self._run_wait(until, self._core.settings.of(GuiAgentSettings).check_timeout_s)
                verdict, (calls, cost) = active.machine.verdict, _get_cost(active)
                return Checked(self._now(), verdict.answer.value, verdict.detail, calls, cost)

    async def _ask_model(self, messages: tuple[ChatMessage, ...]) -> machine.Event:
        try:
            wanted = parse_target(self._run.spec.target, self._watched.name)
            target = (await self._core.fresh_frames.find(wanted)).picture
        except AcudError as fault:
            return Stopped(self._now(), RunState.ESCALATED, f"the screen cannot be seen: {fault}")
        try:
            result = await self._send_messages(messages, target)
        except Unavailable as fault:
            return self._note_no_answer(f"the model's answer was lost: {fault.message}")
        turn = result.thought
        if turn is None:
            return self._note_no_answer(f"the model was not asked: {result.reason or result.status}")
        self._view = view_of(target, result.width, result.height)
        return machine.ModelAnswer(self._now(), turn.text, turn.calls, turn.code, turn.reason, turn.cost_usd)

    def _note_no_answer(self, fault: str) -> machine.ModelAnswer:
        return machine.ModelAnswer(self._now(), code=Unavailable.code, reason=fault, cost_usd=None)

    def _send_messages(self, messages: tuple[ChatMessage, ...], target: ScreenshotTarget) -> Callback[JobResult]:
        spec, redaction, source = self._run.spec, self._core.redaction, target.source
        ask = ThinkAsk(spec.backend, prompt.SYSTEM, messages, prompt.agent_tools(), spec.model)
        local = self._core.settings.backends[spec.backend].is_local
        lane = Lane.REDACT if redaction.needs_reader(local=local, keeps_evidence=False) else Lane.JUDGE
        # The priority of a wait's judgement: an agent waits for both.
        look = self._core.pool.look(
            lane,
            source,
            lambda job: replace(job, think=ask, hide=redaction.find_hidden(source, leaves=not local)),
            View(source.name, target.crop, target.ignore),
            NORMAL_PRIORITY,
        )
        return Callback(lambda resume: look.begin(partial(self._record_cost, resume)))

    def _record_cost(self, resume: Resume[JobResult], outcome: JobResult | AcudError) -> None:
        """Record the cost of the turn, also after the run has ended; it is unknown if the answer was lost."""
        turn = (outcome.thought if isinstance(outcome, JobResult) else None) or Thought()
        spec, tokens = self._run.spec, (turn.tokens_in, turn.tokens_out)
        self._core.usage_log.enter(
            Purpose.AGENT, spec.backend, turn.cost_usd, tokens, model=turn.model or spec.model, task_id=spec.task_id
        )
        resume(outcome)

    async def _run_instruction(self, effect: RunInstruction) -> Did:
        spec = self._run.spec
        request = GuiDo(
            effect.instruction[:4000],
            spec.target,
            self._watched.name,
            view=self._view,
            expect=Criteria(effect.expect) if effect.expect else None,
            timeout_s=self._core.settings.of(GuiAgentSettings).effect_timeout_s,
            task_id=spec.task_id,
            judge=self._judge,
        )
        try:
            done = await Callback[DoReply](partial(self._begin_instruction, request))
        except AcudError as fault:
            return Did(self._now(), f"failed: {fault.code}", str(fault), effective=False)
        calls, cost = _sum_cost(done)
        took = done.field is not None and done.field.outcome != "unchanged"
        return Did(self._now(), done.status, done.message, done.status == "verified" or took, calls, cost)

    def _begin_instruction(self, request: GuiDo, resume: Resume[DoReply]) -> Callable[[], None]:
        caller = RunCaller(self._core.faults, resume)
        return partial(caller.give_up, self._core.ports.instructions.begin(request, caller))

    def _run_wait(self, until: Until, timeout_s: float) -> Callback[ActiveWait]:
        spec = self._run.spec
        target = parse_target(spec.target, self._watched.name)
        wait = WaitSpec(until, target, timeout_s, judge=self._judge, task_id=spec.task_id)
        return Callback(partial(self._core.waits.run_transient, wait, self._watched))

    @property
    def _judge(self) -> JudgeChoice:
        judge = self._run.spec.judge
        return judge if judge != JudgeName.AUTO else self._run.spec.backend

    def _now(self) -> float:
        return self._core.clock.monotonic_s()


def _sum_cost(reply: DoReply) -> tuple[int, float | None]:
    """Return the calls of models to find elements and to judge the effect, and their cost (None: unknown)."""
    tried = [one for found in (reply.found, reply.target_found) if found for one in found.tried]
    paid = [one for one in tried if one.is_paid]
    unknown = reply.spent.unpriced or any(one.cost_usd is None for one in paid)
    cost = None if unknown else sum(one.cost_usd or 0.0 for one in paid) + reply.spent.cost_usd
    return len(paid) + reply.spent.evaluations, cost


def _get_cost(active: ActiveWait) -> tuple[int, float | None]:
    """Return the calls of a model for the wait, and their cost (None: unknown)."""
    spent = active.spent
    return spent.evaluations, None if spent.unpriced else spent.cost_usd


Thing = TypeVar("Thing")


class RunCaller:
    """Reports the outcome of an instruction to its run, once."""

    def __init__(self, faults: FaultGuard, on_done: Resume[DoReply]) -> None:
        self._faults = faults
        self._done = on_done
        self._over = False

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` so that an exception in it ends only the instruction."""

        def run_guarded(outcome: Thing) -> None:
            try:
                if not self._over:
                    with self._faults.guard("gui_agent"):
                        step(outcome)
            except AcudError as fault:
                self.fail(fault)

        return run_guarded

    def touch(self) -> None:
        """Do nothing: a run is never repeated."""

    def reply(self, body: DoReply, *, stored_body: DoReply) -> None:
        """Take the answer; a run does not store `stored_body`."""
        self._pass_outcome(body)

    def fail(self, fault: AcudError) -> None:
        self._pass_outcome(fault)

    def give_up(self, give_up: Callable[[str], None]) -> None:
        """Give up the instruction, because the run has ended."""
        if not self._over:
            self._over = True
            give_up("the run of the agent ended before this did")

    def _pass_outcome(self, outcome: DoReply | AcudError) -> None:
        if not self._over:
            self._over = True
            self._done(outcome)
