"""One run as a pure machine: events with their time in, the next effect out. It has no model, screen or clock.

    Began -> Think -> ModelAnswer -> RunInstruction | WaitUntil | Check -> Did | Checked -> Think … -> Ended

It ends as `done` only after a positive check; every other end names its reason.
"""

from __future__ import annotations

from msgspec import Struct

from acud.base.errors import InvalidRequest
from acud.features.agent import prompt
from acud.types.agent_runs import RunSpec, RunSpent, RunState, RunStep
from acud.types.chat import ChatCall, ChatMessage

MAX_SILENT = 3
"""Answers in a row without a usable tool call."""
MAX_CHECKS = 3
"""Claims of being done that failed their check."""
MAX_FUTILE = 6
"""Actions in a row without a visible effect."""
MAX_MODEL_FAULTS = 2


class ModelAnswer(Struct, frozen=True):
    """The model answered, or (`code` set) did not. `cost_usd` None: unknown."""

    at: float
    text: str = ""
    calls: tuple[ChatCall, ...] = ()
    code: str = ""
    reason: str = ""
    cost_usd: float | None = 0.0


class Did(Struct, frozen=True):
    """An action or a wait ended. `effective`: its effect was seen. `calls`, `cost_usd`: of models asked for it."""

    at: float
    outcome: str
    reason: str
    effective: bool
    calls: int = 0
    cost_usd: float | None = 0.0


class Checked(Struct, frozen=True):
    """The condition that proves the end was judged: `answer` is yes, no or unknown."""

    at: float
    answer: str
    reason: str
    calls: int = 0
    cost_usd: float | None = 0.0


class Stopped(Struct, frozen=True):
    """The run was ended from outside: cancelled, taken over, the display is gone, the daemon restarted."""

    at: float
    state: RunState
    reason: str


Event = ModelAnswer | Did | Checked | Stopped


class Think(Struct, frozen=True):
    """Ask the model, with a fresh picture."""

    messages: tuple[ChatMessage, ...]


class RunInstruction(Struct, frozen=True):
    """Carry out one action in words; `expect` "": any change will do."""

    instruction: str
    expect: str


class Await(Struct, frozen=True):
    """Wait for a condition in words."""

    until: str
    timeout_s: float


class Check(Struct, frozen=True):
    """Judge on a fresh frame whether it is done; `words`: the model's condition, for a run without one."""

    words: str


class End(Struct, frozen=True):
    """The run is over."""

    state: RunState
    reason: str = ""
    evidence: str = ""


Effect = Think | RunInstruction | Await | Check | End


class Run:
    """The state of one run. Call `begin` once, then `take_event` with each event; each returns the next effect."""

    def __init__(self, spec: RunSpec, began: float) -> None:
        self.spec = spec
        self.began = began
        self.steps: list[RunStep] = []
        self.spent = RunSpent()
        self.ended: End | None = None
        self._turns: list[tuple[ChatMessage, ...]] = []
        """The messages of each step, for the conversation; parallel to `steps`."""
        self._pending: tuple[ChatCall, prompt.Decision] | None = None
        self._extra: tuple[ChatCall, ...] = ()
        self._silent = self._checks = self._futile = self._faults = 0

    def begin(self) -> Effect:
        return self._ask_model()

    def take_event(self, event: Event) -> Effect | None:
        """Return the effect that follows `event`; None once the run has ended."""
        if self.ended is not None:
            return None
        if isinstance(event, Stopped):
            return self._end(event.state, event.reason)
        calls = 1 if isinstance(event, ModelAnswer) else event.calls
        if calls:
            self.spent = self.spent.plus(calls, event.cost_usd)
        if isinstance(event, ModelAnswer):
            effect = self._take_answer(event)
        else:
            effect = self._take_outcome(event) if isinstance(event, Did) else self._take_check(event)
        if isinstance(effect, End):
            return effect
        spent_out = self._find_spent_limit(event.at)
        return self._end(RunState.ESCALATED, spent_out) if spent_out else effect

    def _take_answer(self, event: ModelAnswer) -> Effect:
        if event.code:
            self._faults += 1
            if self._faults >= MAX_MODEL_FAULTS:
                return self._end(RunState.ESCALATED, f"the model does not answer: {event.reason} ({event.code})")
            return self._ask_model()
        self._faults = 0
        if not event.calls:
            return self._reject_answer(event, "", "no tool was called; call exactly one")
        call, self._extra = event.calls[0], event.calls[1:]
        try:
            decision = prompt.parse_decision(call)
        except InvalidRequest as fault:
            return self._reject_answer(event, call.name, str(fault))
        self._silent = 0
        self._pending = (call, decision)
        return self._follow_decision(decision, event.at)

    def _find_spent_limit(self, at: float) -> str:
        limits, spent = self.spec.limits, self.spent
        if at - self.began >= limits.max_time_s:
            return f"the time limit of {limits.max_time_s:g} s is over"
        if limits.max_calls is not None and spent.calls >= limits.max_calls:
            return f"the limit of {limits.max_calls} questions to models is reached"
        if limits.max_cost_usd is not None:
            if spent.unpriced:
                return "a model's cost is not known, so max_cost_usd cannot be kept: give it a price in [prices]"
            if spent.cost_usd >= limits.max_cost_usd:
                return f"the limit of {limits.max_cost_usd:g} USD is reached ({spent.cost_usd:.4f} spent)"
        if len(self.steps) >= limits.max_steps:
            return f"the limit of {limits.max_steps} steps is reached"
        return ""

    def _end(self, state: RunState, reason: str, evidence: str = "") -> End:
        self.ended = End(state, reason, evidence)
        return self.ended

    def _ask_model(self) -> Think:
        kept = prompt.KEPT_STEPS
        older = tuple(self.steps[:-kept])
        recent = [message for turn in self._turns[-kept:] for message in turn]
        now = prompt.now_message(len(self.steps) + 1, self.spec.limits.max_steps)
        return Think((*prompt.open_conversation(self.spec, older), *recent, now))

    def _reject_answer(self, event: ModelAnswer, name: str, fault: str) -> Effect:
        self._silent += 1
        self._add_step("thought", (name or event.text)[:500], "unusable", fault, event.at)
        message = ChatMessage("assistant", event.text, event.calls)
        answers = tuple(ChatMessage("tool", fault, call_id=call.call_id) for call in event.calls)
        self._turns.append((message, *(answers or (ChatMessage("user", fault),))))
        if self._silent >= MAX_SILENT:
            return self._end(RunState.ESCALATED, f"the model gave no usable tool call {MAX_SILENT} times: {fault}")
        return self._ask_model()

    def _follow_decision(self, decision: prompt.Decision, at: float) -> Effect:
        if isinstance(decision, prompt.Do):
            return RunInstruction(decision.instruction, decision.expect)
        if isinstance(decision, prompt.WaitUntil):
            left_s = self.spec.limits.max_time_s - (at - self.began)
            return Await(decision.until, max(0.1, min(decision.timeout_s, left_s)))
        if isinstance(decision, prompt.Done):
            return Check(decision.shows)
        self._close_step("escalated", "", at)
        return self._end(RunState.ESCALATED, decision.reason)

    def _take_outcome(self, event: Did) -> Effect:
        self._close_step(event.outcome, event.reason, event.at)
        self._futile = 0 if event.effective else self._futile + 1
        if self._futile >= MAX_FUTILE:
            return self._end(RunState.ESCALATED, f"{MAX_FUTILE} actions in a row had no visible effect: {event.reason}")
        return self._ask_model()

    def _take_check(self, event: Checked) -> Effect:
        held = event.answer == "yes"
        self._close_step("verified" if held else f"not verified: {event.answer}", event.reason, event.at)
        if held:
            return self._end(RunState.DONE, "", event.reason)
        self._checks += 1
        if self._checks >= MAX_CHECKS:
            return self._end(RunState.ESCALATED, f"the model reported success, but the check failed: {event.reason}")
        return self._ask_model()

    def _close_step(self, outcome: str, reason: str, at: float) -> None:
        assert self._pending is not None
        call, decision = self._pending
        self._pending = None
        self._add_step(prompt.kind_of(decision), prompt.decision_text(decision), outcome, reason, at)
        message = ChatMessage("assistant", "", (call, *self._extra))
        answer = ChatMessage("tool", prompt.outcome(outcome, reason), call_id=call.call_id, quotes=True)
        others = tuple(ChatMessage("tool", "not done: one call at a time", call_id=c.call_id) for c in self._extra)
        self._turns.append((message, answer, *others))
        self._extra = ()

    def _add_step(self, kind: str, words: str, outcome: str, reason: str, at: float) -> None:
        number = len(self.steps) + 1
        self.steps.append(RunStep(number, kind, words, outcome, reason, round(at - self.began, 3)))
