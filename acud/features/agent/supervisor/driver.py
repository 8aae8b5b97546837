"""One run: obeys its machine's effects (asks the model, carries out instructions, waits) and tells it the outcomes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from acud import log
from acud.config import Settings
from acud.errors import AcudError, Unavailable
from acud.event_loop import EventLoop, Timer
from acud.features.agent import machine, prompt
from acud.features.agent import prompt as tools
from acud.features.agent.machine import Await, Check, Checked, Did, End, Run, RunInstruction, Stopped, Think
from acud.features.agent.settings import GuiAgentSettings
from acud.protocol.evaluation import Job, JobResult, Thought
from acud.protocol.questions import ThinkAsk, View
from acud.protocol.requests.daemon import Purpose
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.supervisor.control import FaultGuard
from acud.supervisor.evaluator_pool import EvaluatorPool
from acud.supervisor.fresh_frames import FreshFrameResolver, FreshTarget
from acud.supervisor.job_queues import Lane
from acud.supervisor.ports import Instructions
from acud.supervisor.redaction import Redaction
from acud.supervisor.screenshots import ScreenshotTarget, view_of
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits.active_waits import ActiveWait
from acud.supervisor.waits.service import Waits
from acud.supervisor.watched_displays import WatchedDisplay
from acud.types import Answer, Criteria, JudgeName, Until, WaitSpec
from acud.types.agent_runs import RunInfo, RunState
from acud.waits.schedule import NORMAL_PRIORITY
from acud.waits.targets import parse_target

_LOG = log.logger("agent")

DoDone = Callable[[DoReply | AcudError], None]
Drop = Callable[[], None]
"""Gives up what was begun: its end is not told any more. Harmless when it has ended."""
InstructionStarter = Callable[[GuiDo, DoDone], Drop]
"""Does one thing in words on a display; see `acud.features.actions.supervisor.instruction`."""


class Tools(Struct, frozen=True):
    """What a driver works with; borrowed."""

    loop: EventLoop
    monotonic_s: Callable[[], float]
    settings: Settings
    fresh_frames: FreshFrameResolver
    pool: EvaluatorPool
    waits: Waits
    redaction: Redaction
    usage_log: UsageLog
    do: InstructionStarter


class Driver:
    """Drives one run on `watched`. `stepped` is called after each step and at the end, with the run as it is then."""

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
        """Return the run as it is now."""
        end = self._machine.ended
        run = replace(self._run, steps=tuple(self._machine.steps), spent=self._machine.spent)
        return run if end is None else replace(run, state=end.state, reason=end.reason, evidence=end.evidence)

    @property
    def display(self) -> str:
        """The display it works on."""
        return self._watched.name

    def begin(self) -> None:
        """Start; the time limit is a timer, so that no model call delays it."""
        limit_s = self._run.spec.limits.max_time_s
        reason = f"the time limit of {limit_s:g} s is over"
        self._timer = self._with.loop.call_later(limit_s, lambda: self.stop(RunState.ESCALATED, reason))
        self._obey(self._machine.begin())

    def stop(self, state: RunState, reason: str) -> None:
        """End it from outside: what is under way goes no further, and what it still brings comes too late."""
        self._take(Stopped(self._with.monotonic_s(), state, reason))

    def _take(self, event: machine.Event) -> None:
        effect = self._machine.take(event)
        if effect is None:
            return
        self._stepped(self)
        if isinstance(effect, End):
            self._ended()
        else:
            self._obey(effect)

    def _ended(self) -> None:
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
            self._watch(Criteria(effect.until), effect.timeout_s, self._awaited)
        elif isinstance(effect, Check):
            until = self._run.spec.expect or Criteria(effect.words)
            self._watch(until, self._with.settings.of(GuiAgentSettings).check_timeout_s, self._checked)

    # ---- thinking --------------------------------------------------------------------------------------------------

    def _think(self, effect: Think) -> None:
        spec = self._run.spec
        ask = ThinkAsk(spec.backend, prompt.SYSTEM, effect.messages, tools.agent_tools(), spec.model)

        def on_target(outcome: FreshTarget | AcudError) -> None:
            if isinstance(outcome, AcudError):
                self._fault(outcome)
            elif self._machine.ended is None:
                local = self._with.settings.backends().named()[spec.backend].is_local
                done = partial(self._said, outcome)
                work = ThinkWork(outcome.picture, ask, self._with.redaction, self._submit, done, local=local)
                self._submit(work)

        self._locate(on_target)

    def _locate(self, on_target: Callable[[FreshTarget | AcudError], None]) -> None:
        try:
            self._with.fresh_frames.fresh(self._run.spec.target, self._watched.name, (), on_target)
        except AcudError as fault:
            on_target(fault)

    def _submit(self, work: ThinkWork) -> None:
        self._with.pool.submit(work)

    def _said(self, fresh_target: FreshTarget, outcome: TurnOutcome | AcudError) -> None:
        self._pay(outcome)
        if isinstance(outcome, AcudError):
            self._take(machine.ModelAnswer(self._now(), code=outcome.code, reason=outcome.message, cost_usd=None))
            return
        self._view = view_of(fresh_target.picture, outcome.width, outcome.height)
        said = outcome.thought
        self._take(machine.ModelAnswer(self._now(), said.text, said.calls, said.code, said.reason, said.cost_usd))

    def _pay(self, outcome: TurnOutcome | AcudError) -> None:
        """Enter what the turn cost, as the run counts it. The cost of a turn whose answer was lost is unknown."""
        spec, said = self._run.spec, Thought() if isinstance(outcome, AcudError) else outcome.thought
        tokens = (said.tokens_in, said.tokens_out)
        model = said.model or spec.model
        self._with.usage_log.enter(
            Purpose.AGENT, spec.backend, said.cost_usd, tokens, model=model, task_id=spec.task_id
        )

    def _fault(self, fault: AcudError) -> None:
        self.stop(RunState.ESCALATED, f"the screen cannot be seen: {fault}")

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
            self._drop = self._with.do(request, self._did)
        except AcudError as fault:
            self._did(fault)

    def _did(self, outcome: DoReply | AcudError) -> None:
        if isinstance(outcome, AcudError):
            self._take(Did(self._now(), f"failed: {outcome.code}", str(outcome), effective=False))
            return
        calls, cost = _paid(outcome)
        effective = outcome.status == "verified"
        self._take(Did(self._now(), outcome.status, outcome.message, effective, calls, cost))

    # ---- watching --------------------------------------------------------------------------------------------------

    def _watch(self, until: Until, timeout_s: float, done: Callable[[ActiveWait], None]) -> None:
        spec = self._run.spec
        target = parse_target(spec.target, self._watched.name)
        wait = WaitSpec(until, target, timeout_s, judge=self._judge, task_id=spec.task_id)
        self._drop = self._with.waits.run_transient(wait, self._watched, done)

    @property
    def _judge(self) -> JudgeName:
        judge = self._run.spec.judge
        return judge if judge is not JudgeName.AUTO else JudgeName(self._run.spec.backend)

    def _awaited(self, active: ActiveWait) -> None:
        verdict = active.machine.verdict
        seen = verdict.answer is Answer.YES
        calls, cost = _judged(active)
        self._take(Did(self._now(), "seen" if seen else "not seen", verdict.detail, seen, calls, cost))

    def _checked(self, active: ActiveWait) -> None:
        verdict = active.machine.verdict
        calls, cost = _judged(active)
        self._take(Checked(self._now(), verdict.answer.value, verdict.detail, calls, cost))

    def _now(self) -> float:
        return self._with.monotonic_s()


def _paid(done: DoReply) -> tuple[int, float | None]:
    """Return how often models were asked to find things and to judge the effect, and what that cost."""
    tried = [one for found in (done.found, done.target_found) if found for one in found.tried]
    paid = [one for one in tried if one.is_paid]
    unknown = done.spent.unpriced or any(one.cost_usd is None for one in paid)
    cost = None if unknown else sum(one.cost_usd or 0.0 for one in paid) + done.spent.cost_usd
    return len(paid) + done.spent.evaluations, cost


def _judged(active: ActiveWait) -> tuple[int, float | None]:
    """Return how often a model was asked for the wait, and what that cost (None: not known)."""
    spent = active.spent
    return spent.evaluations, None if spent.unpriced else spent.cost_usd


_TRIES = 5


class TurnOutcome(Struct, frozen=True):
    """What the model said, and the size in pixels of the picture it was shown."""

    thought: Thought
    width: int
    height: int


Done = Callable[[TurnOutcome | AcudError], None]


class ThinkWork:
    """Asks once; a frame that was overwritten meanwhile is taken anew. `local`: the model is on this machine."""

    priority = NORMAL_PRIORITY
    """The priority of a wait's judgement: an agent waits for both."""

    def __init__(
        self,
        target: ScreenshotTarget,
        ask: ThinkAsk,
        redaction: Redaction,
        again: Callable[[ThinkWork], None],
        done: Done,
        *,
        local: bool,
    ) -> None:
        self._target = target
        self._ask = ask
        self._again = again
        self._redaction = redaction
        self._local = local
        self.lane = Lane.REDACT if redaction.reads(local=local, keeps_evidence=False) else Lane.JUDGE
        self._done = done
        self._tries = 0
        self._min_frame = target.source.frame
        self.display = target.source.display

    def build(self, job_id: str) -> Job | None:
        """Return the job for the ring as it is now; the source may have been lost meanwhile."""
        source = self._target.source
        if not source.live or source.path is None:
            self._done(Unavailable(f"{source.name} was lost: {source.lost_reason}", hint="acud display list"))
            return None
        view = View(source.name, self._target.crop, self._target.ignore)
        frame = min(self._min_frame, source.frame)
        hide = self._redaction.of(source, leaves=not self._local)
        return Job(job_id, view, str(source.path), source.epoch, frame, think=self._ask, hide=hide)

    def partly(self, result: JobResult) -> None:
        """A thought has no parts."""

    def finished(self, result: JobResult) -> None:
        """Hand the thought on."""
        self._tries += 1
        if result.status == "frame_gone" and self._tries < _TRIES:
            self._again(self)
        elif result.thought is None:
            self._done(Unavailable(f"the model was not asked: {result.reason or result.status}", hint="acud logs"))
        else:
            self._done(TurnOutcome(result.thought, result.width, result.height))

    def lost(self, reason: str) -> None:
        """Nobody knows whether the model was asked, or what it cost."""
        self._done(Unavailable(f"the model's answer was lost: {reason}"))


Thing = TypeVar("Thing")


class RunCaller:
    """Tells the run how its instruction ended, once."""

    def __init__(self, faults: FaultGuard, done: DoDone) -> None:
        self._faults = faults
        self._done = done
        self._over = False

    def later(self, step: Callable[[Thing], None]) -> Callable[[Thing], None]:
        """Return `step`; what it raises ends the instruction, nobody else."""

        def guarded(outcome: Thing) -> None:
            if self._over:
                return
            fault = self._faults.contained("gui_agent", lambda: step(outcome))
            if fault is not None:
                self.fail(fault)

        return guarded

    def touch(self) -> None:
        """A run is not repeated: nothing depends on whether it has begun to act."""

    def reply(self, body: DoReply, *, kept: DoReply) -> None:
        """Take the answer; a run stores nothing of it."""
        self._end(body)

    def fail(self, fault: AcudError) -> None:
        """Take the fault."""
        self._end(fault)

    def drop(self, give_up: Callable[[str], None]) -> None:
        """The run has ended: let no further step of its instruction be taken."""
        if not self._over:
            self._over = True
            give_up("the run of the agent ended before this did")

    def _end(self, outcome: DoReply | AcudError) -> None:
        if not self._over:
            self._over = True
            self._done(outcome)


def instruction_starter(instructions: Instructions, faults: FaultGuard) -> InstructionStarter:
    """Return the function that carries out one instruction for a run."""

    def do(request: GuiDo, done: DoDone) -> Drop:
        caller = RunCaller(faults, done)
        give_up = instructions.begin(request, caller)
        return lambda: caller.drop(give_up)

    return do
