"""From options to a policy and a judge: how often to look, and who answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from acud.types import Cadence, GateKind, JudgeName, OnDisplayLost, Policy, Priority
from acud_cli.values import DURATION

Command = TypeVar("Command", bound=Callable[..., Any])


def _with_default(words: str, field: str) -> str:
    return f"{words} (default {getattr(Policy(), field):g} s)."


_OPTIONS = (
    click.option(
        "--cadence",
        type=click.Choice([cadence.value for cadence in Cadence]),
        help="event: when pixels changed (default); fixed: every --interval; adaptive: rarer while nothing moves.",
    ),
    click.option(
        "--interval",
        type=DURATION,
        help=_with_default("Tick of `fixed`, and of `event` at the latest", "interval_s"),
    ),
    click.option(
        "--min-interval",
        type=DURATION,
        help=_with_default("Shortest time between two judgements", "min_interval_s"),
    ),
    click.option("--force-after", type=DURATION, help=_with_default("Judge anyway after so long", "force_after_s")),
    click.option(
        "--gate",
        type=click.Choice([gate.value for gate in GateKind]),
        help="What lets a changed frame through; only none and exact never miss a change.",
    ),
    click.option("--gate-threshold", type=click.FloatRange(min=0), help="Threshold of a lossy gate."),
    click.option("--confirm", type=click.IntRange(1, 20), help="So many yeses on as many pictures (default 1)."),
    click.option(
        "--priority",
        type=click.Choice([priority.value for priority in Priority]),
        help="Whose judgements go first when there are more than can be made (default normal).",
    ),
    click.option(
        "--on-display-lost",
        type=click.Choice([choice.value for choice in OnDisplayLost]),
        help="When its managed display ends or is removed: fail at once (default), or wait to the deadline.",
    ),
)


def policy_options(command: Command) -> Command:
    """Give a command the options of a policy; each is None when not given."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def judge_option(command: Command) -> Command:
    """Give a command `--judge`."""
    choice = click.Choice([judge.value for judge in JudgeName])
    return click.option("--judge", type=choice, default=JudgeName.AUTO.value, help="Who answers (default: auto).")(
        command
    )


def policy_of(given: dict[str, Any], base: Policy | None = None) -> Policy:
    """Return `base` with what was given put over it."""
    fields = {
        "cadence": given["cadence"] and Cadence(given["cadence"]),
        "interval_s": given["interval"],
        "min_interval_s": given["min_interval"],
        "force_after_s": given["force_after"],
        "gate": given["gate"] and GateKind(given["gate"]),
        "gate_threshold": given["gate_threshold"],
        "confirm": given["confirm"],
        "priority": given["priority"] and Priority(given["priority"]),
        "on_display_lost": given["on_display_lost"] and OnDisplayLost(given["on_display_lost"]),
    }
    return msgspec.structs.replace(base or Policy(), **{name: v for name, v in fields.items() if v is not None})
