"""What a run may still spend, by the rules of `acud.waits.budget`."""

from __future__ import annotations

from collections.abc import Iterable

from acud.protocol.evaluation import LeafAnswer
from acud.types import Criteria, Spent, WaitSpec
from acud.waits import budget as rules
from acud.waits.budget import BudgetAccount, BudgetStatus
from acud.waits.conditions import leaves


class Purse:
    """The budget of `spec`, and what `judge` spent of it in this run."""

    def __init__(self, spec: WaitSpec, judge: str) -> None:
        self._budget = spec.budget
        asks = any(isinstance(leaf, Criteria) for leaf in leaves(spec.until))
        self._spends = asks and judge not in rules.FREE
        self.spent = Spent()

    def answered(self, answers: Iterable[LeafAnswer]) -> None:
        """Count what judges did on one frame."""
        worked = (one.cost_usd for one in answers if one.source == "judge" and one.judge not in rules.FREE)
        self.spent = rules.with_costs(self.spent, worked)

    def word(self) -> BudgetStatus:
        """Return what the budget says now."""
        return (
            rules.budget_status(BudgetAccount(self._budget, self.spent), BudgetAccount())
            if self._spends
            else BudgetStatus()
        )
