"""What a budget still allows. Asked before a judging job leaves; what is in the air by then may go beyond it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from acud.base.rate_limits import RollingWindow
from acud.types import Budget, JudgeName, OnBudget, Spent

_ROUNDING = 1e-12
"""Sums of prices are binary fractions: three times a tenth must count as three tenths."""


IMAGE_SEARCH = "image"
"""Who answers where images are, as the judge of evaluations."""
FREE = frozenset({IMAGE_SEARCH, JudgeName.OCR.value, JudgeName.PASSTHROUGH.value, ""})
"""Who answers without spending: nothing of a budget, not even an evaluation."""
WINDOW_S = 60.0


class BudgetAccount(Struct, frozen=True):
    """A budget and what was spent of it."""

    budget: Budget = Budget()
    spent: Spent = Spent()


class BudgetStatus(Struct, frozen=True):
    """What the budgets of a wait say. `spent`: why nothing may be asked any more ("": there is something left).
    `fail`: the wait then ends. `note`: what its client should know.
    """

    spent: str = ""
    fail: bool = False
    note: str = ""


def is_limited(budget: Budget) -> bool:
    """Tell whether the budget bounds anything."""
    return budget.max_cost_usd is not None or budget.max_evaluations is not None


def with_cost(spent: Spent, cost_usd: float, *, unpriced: bool = False) -> Spent:
    """Return what is spent after one more evaluation. `unpriced`: it cost more than `cost_usd`, nobody knows what."""
    return Spent(spent.cost_usd + cost_usd, spent.evaluations + 1, spent.unpriced + unpriced)


def with_costs(spent: Spent, costs: Iterable[float | None]) -> Spent:
    """Return what is spent after judges worked on one frame at these costs (None: not known); none is no evaluation."""
    worked = list(costs)
    if not worked:
        return spent
    known = [cost for cost in worked if cost is not None]
    return with_cost(spent, sum(known), unpriced=len(known) < len(worked))


def exhausted_limit(account: BudgetAccount) -> str:
    """Return which limit is reached, "" while none is."""
    budget, spent = account.budget, account.spent
    if budget.max_evaluations is not None and spent.evaluations >= budget.max_evaluations:
        return f"{spent.evaluations} of {budget.max_evaluations} evaluations are spent"
    if budget.max_cost_usd is not None and spent.cost_usd >= budget.max_cost_usd - _ROUNDING:
        return f"${spent.cost_usd:.6f} of ${budget.max_cost_usd:.6f} are spent"
    return ""


def limit_in_flight(account: BudgetAccount, in_flight: int) -> str:
    """Return which limit is reached once the `in_flight` evaluations under way are paid for, "" while one more fits.

    An evaluation is taken to cost what those before it did on average; before the first one nothing is known.
    """
    if not in_flight or not is_limited(account.budget):
        return ""
    spent = account.spent
    mean = spent.cost_usd / spent.evaluations if spent.evaluations else 0.0
    ahead = Spent(spent.cost_usd + in_flight * mean, spent.evaluations + in_flight, spent.unpriced)
    return "what is left is under way" if exhausted_limit(BudgetAccount(account.budget, ahead)) else ""


def budget_status(wait: BudgetAccount, task: BudgetAccount) -> BudgetStatus:
    """Return what the budget of a wait and that of its task say together."""
    accounts = {"budget": wait, "budget of the task": task}
    reached = {name: account for name, account in accounts.items() if exhausted_limit(account)}
    if not reached:
        return BudgetStatus(note=_warn_unpriced(accounts))
    said = "; ".join(f"{name}: {exhausted_limit(account)}" for name, account in reached.items())
    fail = any(account.budget.on_budget is OnBudget.FAIL for account in reached.values())
    return BudgetStatus(said, fail, f"{said}; from now on judged locally where that is possible")


def _warn_unpriced(accounts: dict[str, BudgetAccount]) -> str:
    """Return a warning when there is a limit in dollars and a judge whose cost is not known."""
    for name, account in accounts.items():
        if account.budget.max_cost_usd is not None and account.spent.unpriced:
            return f"{name}: what this judge costs is not known, so max_cost_usd cannot bound it; [prices] sets a price"
    return ""


class MinuteQuota:
    """At most `limit` in any minute for each key; 0: as many as anybody likes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: dict[str, RollingWindow] = {}

    def free_in_s(self, key: str, now: float) -> float:
        """Return how long `key` has to wait for its next one; 0 when it can be had now."""
        return self._taken[key].free_in_s(now) if key in self._taken else 0.0

    def take(self, key: str, now: float) -> None:
        """Count one; forget the keys whose minute is over."""
        if not self._limit:
            return
        self._taken.setdefault(key, RollingWindow(self._limit, WINDOW_S)).take(now)
        for other in [one for one, window in self._taken.items() if window.is_over(now)]:
            del self._taken[other]
