"""Budgets of waits and tasks, and what was spent of them; `acud.waits.budget` checks them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta, Struct


class OnBudget(StrEnum):
    """What happens when a budget is spent."""

    LOCAL = "local"
    """Go on with what is free (local leaves, text, sentences about quoted words); the rest is `unknown(budget)`."""
    FAIL = "fail"
    """The wait ends as failed."""


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """How much may be spent on vision judges; None: no limit. An evaluation is one frame that such a judge was asked
    about; OCR is free. A model without a price in `[prices]` has no known cost, and only `max_evaluations` bounds it.
    """

    max_cost_usd: Annotated[float, Meta(ge=0, le=1_000_000)] | None = None
    max_evaluations: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    on_budget: OnBudget = OnBudget.LOCAL
    help: ClassVar[dict[str, str]] = {
        "max_cost_usd": "Spend at most this much on judges.",
        "max_evaluations": "Ask vision judges at most this many times.",
        "on_budget": "When that is spent: local (default): judge what costs nothing; fail: end the wait.",
    }
    """The help of each field as an option."""


class Spent(Struct, frozen=True, forbid_unknown_fields=True):
    """What was spent: the sum of known costs, and the number of evaluations; `unpriced` of them have no known cost."""

    cost_usd: float = 0.0
    evaluations: int = 0
    unpriced: int = 0
