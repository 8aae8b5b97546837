"""Budgets of waits and tasks, admission of judging jobs against them, and limits on the number of waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from acud.base.clock import Clock
from acud.base.errors import Refused
from acud.config import WaitSettings
from acud.protocol.evaluation import LeafAnswer
from acud.protocol.requests.daemon import Purpose
from acud.store.store import Store
from acud.supervisor.usage_log import UsageLog
from acud.supervisor.waits.active_waits import ActiveWait, ActiveWaits
from acud.supervisor.waits.judge_selection import JudgeSelection
from acud.types import Budget, JudgeChoice, WaitSpec
from acud.waits import budget as rules
from acud.waits.budget import BudgetAccount, BudgetStatus, MinuteQuota
from acud.waits.condition_tree import leaves, may_ask_model
from acud.waits.effects import JobKind

_UNANSWERED = frozenset({"judge_down", "unavailable", "rate_limited", "no_key"})
"""Codes of an unknown that mean that no judge answered."""


def is_charged(active: ActiveWait, judge: JudgeChoice) -> bool:
    asks = any(may_ask_model(leaf) for leaf in leaves(active.spec.until))
    return asks and judge not in rules.FREE and active.transient is None


def _pick_evaluations(answers: tuple[LeafAnswer, ...]) -> list[LeafAnswer]:
    done = [one for one in answers if one.source == "judge" and one.judge not in rules.FREE]
    # A call that was never sent, or that a server refused at no cost, was no evaluation.
    return [one for one in done if one.verdict.code not in _UNANSWERED or one.cost_usd != 0]


def _find_purpose(active: ActiveWait) -> Purpose:
    return Purpose.WAIT if active.transient is None else Purpose.EFFECT


class Budgets:
    """The accounts of the waits and tasks of this supervisor."""

    def __init__(self, store: Store, usage_log: UsageLog) -> None:
        self._store, self._usage_log = store, usage_log
        self._tasks: dict[str, BudgetAccount] = {}
        self._agents: dict[str, str] = {}

    def open(self, task_id: str) -> None:
        """Open a task's account with what its waits spent so far; call before one of its waits is armed."""
        if task_id and task_id not in self._tasks:
            self._tasks[task_id] = BudgetAccount(
                self._look_up_budget(task_id), self._store.waits.spent_of_task(task_id)
            )

    def _look_up_budget(self, task_id: str) -> Budget:
        task = self._store.task_budgets.of(task_id)
        if task is None:
            return Budget()  # it was deleted; its waits are about to end
        self._agents[task_id] = task.agent_id
        return task.budget

    def name_agent(self, active: ActiveWait) -> str:
        """Return one name for all waits of the agent that `active` belongs to; "" where none is known. The agent of a
        task, else the task itself; without a task the agent to wake.
        """
        task_id, wake = active.spec.task_id, active.spec.wake
        if task_id:
            agent = self._agents.get(task_id, "")
            return f"agent {agent}" if agent else f"task {task_id}"
        named = wake.agent_id or wake.session_key
        return f"wake {wake.agent_id} {wake.session_key}" if named else ""

    def close(self, task_id: str) -> None:
        self._tasks.pop(task_id, None)
        self._agents.pop(task_id, None)

    def set_budget(self, task_id: str, budget: Budget) -> None:
        if task_id in self._tasks:
            self._tasks[task_id] = replace(self._tasks[task_id], budget=budget)

    def is_shared(self, active: ActiveWait) -> bool:
        """Return whether what this wait spends may limit other waits."""
        return rules.is_limited(self.of_task(active).budget)

    def budget_status(self, active: ActiveWait) -> BudgetStatus:
        return rules.check_budgets(self.of_wait(active), self.of_task(active))

    def charge_answers(self, active: ActiveWait, answers: tuple[LeafAnswer, ...]) -> None:
        evaluations = _pick_evaluations(answers)
        if evaluations:
            self._pay_costs(active, [one.cost_usd for one in evaluations])
        if active.transient is not None:
            self.enter_unkept(active, answers)

    def enter_unkept(self, active: ActiveWait, answers: tuple[LeafAnswer, ...]) -> None:
        """Enter the cost of answers that no stored evaluation holds."""
        for one in _pick_evaluations(answers):
            tokens = (one.tokens_in, one.tokens_out)
            self._usage_log.enter(_find_purpose(active), one.judge, one.cost_usd, tokens, task_id=active.payer)

    def charge_lost_call(self, active: ActiveWait, judge: JudgeChoice) -> None:
        """Charge a call of `judge` that never came back, at an unknown cost."""
        self._pay_costs(active, [None])
        self._usage_log.enter(_find_purpose(active), judge, None, task_id=active.payer)

    def _pay_costs(self, active: ActiveWait, costs: list[float | None]) -> None:
        active.spent = rules.with_costs(active.spent, costs)
        task = self._tasks.get(active.spec.task_id)
        if task is not None:
            self._tasks[active.spec.task_id] = replace(task, spent=rules.with_costs(task.spent, costs))

    def of_wait(self, active: ActiveWait) -> BudgetAccount:
        return BudgetAccount(active.spec.budget, active.spent)

    def of_task(self, active: ActiveWait) -> BudgetAccount:
        """Return the account of the wait's task; an unlimited one without a task."""
        return self._tasks.get(active.spec.task_id, BudgetAccount())


class Admission:
    """Holds judging jobs back that budgets do not allow. Keeps no account: it counts the waits' jobs in flight."""

    def __init__(self, active: Mapping[str, ActiveWait], budgets: Budgets, judges: JudgeSelection) -> None:
        self._active, self._budgets, self._judges = active, budgets, judges

    def find_held_back(self, asking: Iterable[ActiveWait]) -> dict[str, str]:
        """Return the ids of those in `asking` that must be held back, each with the reason."""
        found: dict[str, str] = {}
        admitted: list[str] = []
        for active in sorted(asking, key=_find_deadline):
            if not is_charged(active, self._judges.judge_of(active.spec.judge)):
                continue
            task_id = active.spec.task_id
            reason = self._find_reason(active, admitted.count(task_id) if task_id else 0)
            if reason:
                found[active.wait_id] = reason
            else:
                admitted.append(task_id)
        return found

    def _find_reason(self, active: ActiveWait, admitted: int) -> str:
        own = rules.find_limit_in_flight(self._budgets.of_wait(active), _count_in_flight(active))
        if own:
            return f"budget: {own}"
        if not self._budgets.is_shared(active):
            return ""  # and nothing is added up: there may be thousands of waits
        others = [one for one in self._active.values() if one.spec.task_id == active.spec.task_id]
        task = rules.find_limit_in_flight(self._budgets.of_task(active), sum(map(_count_in_flight, others)) + admitted)
        return f"budget of the task: {task}, for waits that were due before or end sooner" if task else ""


def _count_in_flight(active: ActiveWait) -> int:
    return sum(flight.request.kind is JobKind.JUDGE and not flight.request.local for flight in active.machine.flights)


def _find_deadline(active: ActiveWait) -> float:
    return active.deadline_timer.at_s if active.deadline_timer is not None else 0.0


class WaitLimits:
    """Refuses waits beyond the limits of the settings."""

    def __init__(self, settings: WaitSettings, active: ActiveWaits, clock: Clock) -> None:
        self._settings, self._active = settings, active
        self._now = clock.monotonic_s
        self._quota = MinuteQuota(settings.max_new_per_minute)

    def count_wait(self, spec: WaitSpec, display: str) -> None:
        """Count one more wait on `display`. Raises: Refused naming what is full and the setting."""
        if len(self._active) >= self._settings.max_live:
            raise Refused(f"{len(self._active)} waits are live already", hint="cancel some, or raise [wait] max_live")
        count = self._active.count_on(display)
        if count >= self._settings.max_per_display:
            hint = "cancel some, or raise [wait] max_per_display"
            raise Refused(f"{count} live waits look at display {display} already", hint=hint)
        self._check_task(spec.task_id)
        self._check_rate(spec.task_id)
        self._quota.take(spec.task_id, self._now())

    def _check_task(self, task_id: str) -> None:
        count = self._active.count_of(task_id) if task_id else 0
        if count >= self._settings.max_per_task:
            hint = "cancel some, or raise [wait] max_per_task"
            raise Refused(f"task {task_id} has {count} live waits already", hint=hint)

    def _check_rate(self, task_id: str) -> None:
        free_in_s = self._quota.free_in_s(task_id, self._now())
        if free_in_s > 0:
            who = f"task {task_id}" if task_id else "clients that name no task"
            raise Refused(
                f"{who} made {self._settings.max_new_per_minute} waits in the last minute",
                hint=f"try again in {free_in_s:.0f} s, or raise [wait] max_new_per_minute",
                retry_after_s=round(free_in_s, 1),
            )
