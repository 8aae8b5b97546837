"""Drives one run: carries out its machine's effects (questions, instructions, waits) and returns the outcomes to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from acud.base import log
from acud.base.errors import AcudError, Unavailable
from acud.config import Settings
from acud.features.agent import machine, prompt
from acud.features.agent.machine import Await, Check, Checked, Did, End, Run, RunInstruction, Stopped, Think
from acud.features.agent.settings import GuiAgentSettings
from acud.process.event_loop import EventLoop, Timer
from acud.protocol.evaluation import Job, JobResult, Thought
from acud.protocol.questions import ThinkAsk, View
from acud.protocol.requests.daemon import Purpose
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.control import FaultGuard
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.fresh_frames import FreshFrameResolver, FreshTarget
from acud.supervisor.job_queues import FrameWork, Lane
from acud.supervisor.ports import Instructions
from acud.supervisor.redaction import Redaction
from acud.supervisor.screenshots import ScreenshotTarget, view_of
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.waits.service import Waits
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Answer, Criteria, JudgeChoice, JudgeName, Until, WaitSpec
from acud.types.agent_runs import RunInfo, RunState
from acud.types.chat import ChatMessage
from acud.waits.schedule import NORMAL_PRIORITY
from acud.waits.targets import parse_target

_LOG = log.logger("agent")

DoDone = Callable[[DoReply | AcudError], None]
Drop = Callable[[], None]
"""Gives up an instruction or wait: its end is not reported. Harmless when it has ended."""


class Tools(Struct, frozen=True):
    """The parts of the core that a driver uses."""

    loop: EventLoop
    monotonic_s: Callable[[], float]
    settings: Settings
    fresh_frames: FreshFrameResolver
    pool: EvaluatorPool
    waits: Waits
    redaction: Redaction
    usage_log: UsageLog
    instructions: Instructions
    faults: FaultGuard


class Driver:
    """Drives one run on `watched`. `stepped` is called after each step and at the end."""

    def __init__(self, run: RunInfo, watched: WatchedDisplay, tools_: Tools, stepped: Callable[[Driver], None]) -> None:
        self._run = run
        self._watched = watched
        self._with = tools_
        self._stepped = stepped
        self._machine = Run(run.spec, tools_.monotonic_s())
        self._view = ""
        self._timer: Timer | None = None
        self._drop: Drop | None = None

    @property
    def info(self) -> RunInfo:
        """The present state of the run."""
        end = self._machine.ended
        run = replace(self._run, steps=tuple(self._machine.steps), spent=self._machine.spent)
        return run if end is None else replace(run, state=end.state, reason=end.reason, evidence=end.evidence)

    def begin(self) -> None:
        """Start; the time limit is a timer, so that no model call delays it."""
        limit_s = self._run.spec.limits.max_time_s
        reason = f"the time limit of {limit_s:g} s is over"
        self._timer = self._with.loop.call_later(limit_s, lambda: self.stop(RunState.ESCALATED, reason))
        self._obey(self._machine.begin())

    def stop(self, state: RunState, reason: str) -> None:
        """End it from outside: the current effect goes no further, and its outcome is ignored."""
        self._take(Stopped(self._with.monotonic_s(), state, reason))

    def _take(self, event: machine.Event) -> None:
        effect = self._machine.take(event)
        if effect is None:
            return
        self._stepped(self)
        if isinstance(effect, End):
            self._finish()
        else:
            self._obey(effect)

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._drop is not None:
            self._drop()
        _LOG.info("agent.ended", run=self._run.run_id, state=self.info.state.value, steps=len(self._machine.steps))

    def _obey(self, effect: machine.Effect) -> None:
        if isinstance(effect, Think):
            self._think(effect)
        elif isinstance(effect, RunInstruction):
            self._act(effect)
        elif isinstance(effect, Await):
            self._watch(Criteria(effect.until), effect.timeout_s, self._on_awaited)
        elif isinstance(effect, Check):
            until = self._run.spec.expect or Criteria(effect.words)
            self._watch(until, self._with.settings.of(GuiAgentSettings).check_timeout_s, self._on_checked)

    # ---- thinking --------------------------------------------------------------------------------------------------

    def _think(self, effect: Think) -> None:
        def on_target(outcome: FreshTarget | AcudError) -> None:
            if isinstance(outcome, AcudError):
                self.stop(RunState.ESCALATED, f"the screen cannot be seen: {outcome}")
            elif self._machine.ended is None:
                self._ask(effect.messages, outcome.picture)

        try:
            self._with.fresh_frames.resolve(self._run.spec.target, self._watched.name, (), on_target)
        except AcudError as fault:
            on_target(fault)

    def _ask(self, messages: tuple[ChatMessage, ...], target: ScreenshotTarget) -> None:
        spec, pool, redaction, source = self._run.spec, self._with.pool, self._with.redaction, target.source
        ask = ThinkAsk(spec.backend, prompt.SYSTEM, messages, prompt.agent_tools(), spec.model)
        local = self._with.settings.backends[spec.backend].is_local
        lane = Lane.REDACT if redaction.needs_reader(local=local, keeps_evidence=False) else Lane.JUDGE

        def fill(job: Job) -> Job:
            return replace(job, think=ask, hide=redaction.find_hidden(source, leaves=not local))

        view = View(source.name, target.crop, target.ignore)
        on_answer = partial(self._on_answer, target)
        # The priority of a wait's judgement: an agent waits for both.
        pool.submit(FrameWork(pool.submit, lane, source, fill, on_answer, view=view, priority=NORMAL_PRIORITY))

    def _on_answer(self, target: ScreenshotTarget, outcome: JobResult | Unavailable) -> None:
        turn = None if isinstance(outcome, Unavailable) else outcome.thought
        self._record_cost(turn or Thought())
        if isinstance(outcome, Unavailable):
            fault = f"the model's answer was lost: {outcome.message}"
        elif turn is None:
            fault = f"the model was not asked: {outcome.reason or outcome.status}"
        else:
            self._view = view_of(target, outcome.width, outcome.height)
            self._take(machine.ModelAnswer(self._now(), turn.text, turn.calls, turn.code, turn.reason, turn.cost_usd))
            return
        self._take(machine.ModelAnswer(self._now(), code=Unavailable.code, reason=fault, cost_usd=None))

    def _record_cost(self, turn: Thought) -> None:
        """Record the cost of the turn; it is unknown if the answer was lost."""
        spec, tokens = self._run.spec, (turn.tokens_in, turn.tokens_out)
        self._with.usage_log.enter(
            Purpose.AGENT, spec.backend, turn.cost_usd, tokens, model=turn.model or spec.model, task_id=spec.task_id
        )

    # ---- acting ----------------------------------------------------------------------------------------------------

    def _act(self, effect: RunInstruction) -> None:
        spec = self._run.spec
        request = GuiDo(
            effect.instruction[:4000],
            spec.target,
            self._watched.name,
            view=self._view,
            expect=Criteria(effect.expect) if effect.expect else None,
            timeout_s=self._with.settings.of(GuiAgentSettings).effect_timeout_s,
            task_id=spec.task_id,
            judge=self._judge,
        )
        try:
            caller = RunCaller(self._with.faults, self._on_done)
            self._drop = partial(caller.drop, self._with.instructions.begin(request, caller))
        except AcudError as fault:
            self._on_done(fault)

    def _on_done(self, outcome: DoReply | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self._take(Did(self._now(), f"failed: {outcome.code}", str(outcome), effective=False))
            return
        calls, cost = _sum_cost(outcome)
        took = outcome.field is not None and outcome.field.outcome != "unchanged"
        effective = outcome.status == "verified" or took
        self._take(Did(self._now(), outcome.status, outcome.message, effective, calls, cost))

    # ---- watching --------------------------------------------------------------------------------------------------

    def _watch(self, until: Until, timeout_s: float, done: Callable[[ActiveWait], None]) -> None:
        spec = self._run.spec
        target = parse_target(spec.target, self._watched.name)
        wait = WaitSpec(until, target, timeout_s, judge=self._judge, task_id=spec.task_id)
        self._drop = self._with.waits.run_transient(wait, self._watched, done)

    @property
    def _judge(self) -> JudgeChoice:
        judge = self._run.spec.judge
        return judge if judge != JudgeName.AUTO else self._run.spec.backend

    def _on_awaited(self, active: ActiveWait) -> None:
        verdict = active.machine.verdict
        seen = verdict.answer is Answer.YES
        calls, cost = _get_cost(active)
        self._take(Did(self._now(), "seen" if seen else "not seen", verdict.detail, seen, calls, cost))

    def _on_checked(self, active: ActiveWait) -> None:
        verdict = active.machine.verdict
        calls, cost = _get_cost(active)
        self._take(Checked(self._now(), verdict.answer.value, verdict.detail, calls, cost))

    def _now(self) -> float:
        return self._with.monotonic_s()


def _sum_cost(done: DoReply) -> tuple[int, float | None]:
    """Return the calls of models to find elements and to judge the effect, and their cost (None: unknown)."""
    tried = [one for found in (done.found, done.target_found) if found for one in found.tried]
    paid = [one for one in tried if one.is_paid]
    unknown = done.spent.unpriced or any(one.cost_usd is None for one in paid)
    cost = None if unknown else sum(one.cost_usd or 0.0 for one in paid) + done.spent.cost_usd
    return len(paid) + done.spent.evaluations, cost


def _get_cost(active: ActiveWait) -> tuple[int, float | None]:
    """Return the calls of a model for the wait, and their cost (None: unknown)."""
    spent = active.spent
    return spent.evaluations, None if spent.unpriced else spent.cost_usd


Thing = TypeVar("Thing")


class RunCaller:
    """Reports the outcome of an instruction to its run, once."""

    def __init__(self, faults: FaultGuard, done: DoDone) -> None:
        self._faults = faults
        self._done = done
        self._over = False

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step` so that an exception in it ends only the instruction."""

        def run_guarded(outcome: Thing) -> None:
            if self._over:
                return
            fault = self._faults.run_contained("gui_agent", lambda: step(outcome))
            if fault is not None:
                self.fail(fault)

        return run_guarded

    def touch(self) -> None:
        """Do nothing: a run is never repeated."""

    def reply(self, body: DoReply, *, kept: DoReply) -> None:
        """Take the answer; a run does not store `kept`."""
        self._end(body)

    def fail(self, fault: AcudError) -> None:
        """Take the fault."""
        self._end(fault)

    def drop(self, give_up: Callable[[str], None]) -> None:
        """Give up the instruction, because the run has ended."""
        if not self._over:
            self._over = True
            give_up("the run of the agent ended before this did")

    def _end(self, outcome: DoReply | AcudError) -> None:
        if not self._over:
            self._over = True
            self._done(outcome)
