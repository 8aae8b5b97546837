"""From options to a budget: what judging may cost, and what happens when that is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from acud.types import Budget, OnBudget

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--max-cost", type=click.FloatRange(0, 1_000_000), metavar="USD", help="Spend at most so much on judges."
    ),
    click.option(
        "--max-evaluations", type=click.IntRange(0, 1_000_000_000), metavar="N", help="Ask judges that see so often."
    ),
    click.option(
        "--on-budget",
        type=click.Choice([one.value for one in OnBudget]),
        help="When that is spent: local (default): judge what costs nothing; fail: end the wait.",
    ),
)


def budget_options(command: Command) -> Command:
    """Give a command the options of a budget; each is None when not given."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def budget_of(given: dict[str, Any], base: Budget | None = None) -> Budget:
    """Return `base` with what was given put over it."""
    fields = {
        "max_cost_usd": given["max_cost"],
        "max_evaluations": given["max_evaluations"],
        "on_budget": given["on_budget"] and OnBudget(given["on_budget"]),
    }
    return msgspec.structs.replace(base or Budget(), **{name: v for name, v in fields.items() if v is not None})
