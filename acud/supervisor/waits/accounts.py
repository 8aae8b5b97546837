"""What waits and tasks spend: counted as answers come, in memory; a wait's row keeps its share over a restart."""

from __future__ import annotations

from msgspec.structs import replace

from acud.errors import NotFound
from acud.protocol.evaluation import LeafAnswer
from acud.protocol.requests.daemon import Purpose
from acud.store import Store
from acud.supervisor.spending import Spending
from acud.supervisor.waits.live import Live
from acud.types import Budget, Criteria, JudgeName
from acud.waits import budget as rules
from acud.waits.budget import BudgetAccount, BudgetStatus
from acud.waits.conditions import leaves


def spends(live: Live, judge: JudgeName) -> bool:
    """Tell whether judging the wait by `judge` is what budgets are for."""
    asks = any(isinstance(leaf, Criteria) for leaf in leaves(live.spec.until))
    return asks and judge.value not in rules.FREE and live.passing is None


def _worked(answers: tuple[LeafAnswer, ...]) -> list[LeafAnswer]:
    done = [one for one in answers if one.source == "judge" and one.judge not in rules.FREE]
    # Whom the rate sent away unasked, or the server at no cost, was not evaluated.
    return [one for one in done if one.verdict.code != "rate_limited" or one.cost_usd != 0]


def _purpose(live: Live) -> Purpose:
    return Purpose.WAIT if live.passing is None else Purpose.EFFECT


class Accounts:
    """The accounts of the waits and tasks of this supervisor."""

    def __init__(self, store: Store, spending: Spending) -> None:
        self._store = store
        self._spending = spending
        self._tasks: dict[str, BudgetAccount] = {}
        self._agents: dict[str, str] = {}

    def open(self, task_id: str) -> None:
        """Add up what the waits of a task spent so far; once for each task, before one of its waits is armed."""
        if task_id and task_id not in self._tasks:
            self._tasks[task_id] = BudgetAccount(self._looked_up(task_id), self._store.waits.spent_of_task(task_id))

    def _looked_up(self, task_id: str) -> Budget:
        try:
            task = self._store.tasks.get(task_id)
        except NotFound:
            return Budget()  # it was deleted; its waits are about to end
        self._agents[task_id] = task.agent_id
        return task.budget

    def agent(self, live: Live) -> str:
        """Return one name for all waits of the agent that `live` belongs to; "" where none is known.

        The agent of a task, else the task itself; without a task whoever is to be woken.
        """
        task_id, wake = live.spec.task_id, live.spec.wake
        if task_id:
            agent = self._agents.get(task_id, "")
            return f"agent {agent}" if agent else f"task {task_id}"
        named = wake.agent_id or wake.session_key
        return f"wake {wake.agent_id} {wake.session_key}" if named else ""

    def close(self, task_id: str) -> None:
        """Forget a task that ended."""
        self._tasks.pop(task_id, None)
        self._agents.pop(task_id, None)

    def fund(self, task_id: str, budget: Budget) -> None:
        """Give a task another budget."""
        if task_id in self._tasks:
            self._tasks[task_id] = replace(self._tasks[task_id], budget=budget)

    def is_shared(self, live: Live) -> bool:
        """Tell whether what this wait spends may bind other waits."""
        return rules.is_limited(self.of_task(live).budget)

    def word(self, live: Live) -> BudgetStatus:
        """Return what the budgets of the wait and of its task say."""
        return rules.budget_status(self.of_wait(live), self.of_task(live))

    def answered(self, live: Live, answers: tuple[LeafAnswer, ...]) -> None:
        """Count what judges did for the wait on one frame."""
        worked = _worked(answers)
        if worked:
            self._pay(live, [one.cost_usd for one in worked])
        if live.passing is not None:
            self.unkept(live, answers)

    def unkept(self, live: Live, answers: tuple[LeafAnswer, ...]) -> None:
        """Enter what answers cost of which no evaluation is kept."""
        for one in _worked(answers):
            tokens = (one.tokens_in, one.tokens_out)
            self._spending.enter(_purpose(live), one.judge, one.cost_usd, tokens, task_id=live.payer)

    def lost(self, live: Live, judge: JudgeName) -> None:
        """Count a call of `judge` that never came back: it may have cost something."""
        self._pay(live, [None])
        self._spending.enter(_purpose(live), judge, None, task_id=live.payer)

    def _pay(self, live: Live, costs: list[float | None]) -> None:
        live.spent = rules.with_costs(live.spent, costs)
        task = self._tasks.get(live.spec.task_id)
        if task is not None:
            self._tasks[live.spec.task_id] = replace(task, spent=rules.with_costs(task.spent, costs))

    def of_wait(self, live: Live) -> BudgetAccount:
        """Return the wait's own account."""
        return BudgetAccount(live.spec.budget, live.spent)

    def of_task(self, live: Live) -> BudgetAccount:
        """Return the account of the wait's task, an unlimited one where it has none."""
        return self._tasks.get(live.spec.task_id, BudgetAccount())
