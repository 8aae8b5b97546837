"""What a budget still allows. It is checked before a judging job leaves; jobs in flight may go beyond it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from acud.base.rate_limits import RollingWindow
from acud.types import Budget, JudgeName, OnBudget, Spent

_ROUNDING = 1e-12  # sums of prices are binary fractions: three times a tenth must count as three tenths


IMAGE_SEARCH = "image"
"""The judge's name in evaluations by the image search."""
FREE = frozenset({IMAGE_SEARCH, JudgeName.OCR.value, JudgeName.PASSTHROUGH.value, ""})
"""Judges that spend nothing of a budget, not even an evaluation."""
WINDOW_S = 60.0


class BudgetAccount(Struct, frozen=True):
    """A budget and the part of it that was spent."""

    budget: Budget = Budget()
    spent: Spent = Spent()


class BudgetStatus(Struct, frozen=True):
    """The state of a wait's budgets. `spent`: why no judge may be asked any more ("": something is left). `fail`: the
    wait then ends. `note`: a warning for its client.
    """

    spent: str = ""
    fail: bool = False
    note: str = ""


def is_limited(budget: Budget) -> bool:
    return budget.max_cost_usd is not None or budget.max_evaluations is not None


def with_cost(spent: Spent, cost_usd: float, *, unpriced: bool = False) -> Spent:
    """Return what is spent after one more evaluation. `unpriced`: it cost an unknown amount beyond `cost_usd`."""
    return Spent(spent.cost_usd + cost_usd, spent.evaluations + 1, spent.unpriced + unpriced)


def with_costs(spent: Spent, costs: Iterable[float | None]) -> Spent:
    """Return what is spent after judges worked on one frame at these costs (None: not known; empty: no evaluation)."""
    worked = list(costs)
    if not worked:
        return spent
    known = [cost for cost in worked if cost is not None]
    return with_cost(spent, sum(known), unpriced=len(known) < len(worked))


def find_exhausted_limit(account: BudgetAccount) -> str:
    """Return which limit is reached, "" while none is."""
    budget, spent = account.budget, account.spent
    if budget.max_evaluations is not None and spent.evaluations >= budget.max_evaluations:
        return f"{spent.evaluations} of {budget.max_evaluations} evaluations are spent"
    if budget.max_cost_usd is not None and spent.cost_usd >= budget.max_cost_usd - _ROUNDING:
        return f"${spent.cost_usd:.6f} of ${budget.max_cost_usd:.6f} are spent"
    return ""


def find_limit_in_flight(account: BudgetAccount, in_flight: int) -> str:
    """Return which limit is reached once the `in_flight` evaluations are paid for, "" while one more fits. Each is
    taken to cost the average of the earlier ones; before the first one it costs nothing.
    """
    if not in_flight or not is_limited(account.budget):
        return ""
    spent = account.spent
    mean = spent.cost_usd / spent.evaluations if spent.evaluations else 0.0
    ahead = Spent(spent.cost_usd + in_flight * mean, spent.evaluations + in_flight, spent.unpriced)
    return "what is left is under way" if find_exhausted_limit(BudgetAccount(account.budget, ahead)) else ""


def check_budgets(wait: BudgetAccount, task: BudgetAccount) -> BudgetStatus:
    accounts = {"budget": wait, "budget of the task": task}
    reached = {name: account for name, account in accounts.items() if find_exhausted_limit(account)}
    if not reached:
        return BudgetStatus(note=_warn_unpriced(accounts))
    words = "; ".join(f"{name}: {find_exhausted_limit(account)}" for name, account in reached.items())
    fail = any(account.budget.on_budget is OnBudget.FAIL for account in reached.values())
    return BudgetStatus(words, fail, f"{words}; from now on judged locally where that is possible")


def _warn_unpriced(accounts: dict[str, BudgetAccount]) -> str:
    """Return a warning where a budget has a limit in dollars and its judge an unknown cost."""
    for name, account in accounts.items():
        if account.budget.max_cost_usd is not None and account.spent.unpriced:
            return f"{name}: what this judge costs is not known, so max_cost_usd cannot bound it; [prices] sets a price"
    return ""


class MinuteQuota:
    """At most `limit` in any minute for each key; 0: no limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken: dict[str, RollingWindow] = {}

    def free_in_s(self, key: str, now: float) -> float:
        """Return for how many seconds `key` must wait; 0: no wait."""
        return self._taken[key].free_in_s(now) if key in self._taken else 0.0

    def take(self, key: str, now: float) -> None:
        """Count one use by `key`; forget keys without a use in the last minute."""
        if not self._limit:
            return
        self._taken.setdefault(key, RollingWindow(self._limit, WINDOW_S)).take(now)
        for other in [one for one, window in self._taken.items() if window.is_over(now)]:
            del self._taken[other]
