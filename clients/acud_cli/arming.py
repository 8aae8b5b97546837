"""Arming a wait from options: what `acud wait` and `acud wait create` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec
from click.shell_completion import CompletionItem

from acud.protocol.requests.waits import WaitReply
from acud.types import JudgeName, RouteName, Until, WaitInfo, WakeAddress
from acud_cli.budgets import budget_of, budget_options
from acud_cli.conditions import Wanted, condition_of, condition_options, in_words
from acud_cli.policies import judge_option, policy_of, policy_options
from acud_cli.session import warn
from acud_cli.targets import boxes, target_in_words, target_of, target_options
from acud_cli.values import BOX, DURATION
from acud_cli.words import time_given
from acud_client.sync import Client

Command = TypeVar("Command", bound=Callable[..., Any])


def arming_options(command: Command) -> Command:
    """Give a command every option of a new wait."""
    for option in reversed(_OWN_OPTIONS):
        command = option(command)
    for group in (address_options, budget_options, policy_options, judge_option, target_options, condition_options):
        command = group(command)
    return click.argument("criteria", required=False, default="", shell_complete=_complete_command)(command)


def _complete_command(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the commands of `acud wait` where a sentence or one of them can stand."""
    if not isinstance(ctx.command, click.Group):
        return []
    return [
        CompletionItem(name, help=command.get_short_help_str())
        for name, command in ctx.command.commands.items()
        if name.startswith(incomplete)
    ]


_OWN_OPTIONS = (
    click.option("--ignore", type=BOX, multiple=True, help="A part of the target that counts for nothing (a clock)."),
    click.option("--timeout", type=DURATION, help="How long to wait at most (default: as set, 5m; 0: look once)."),
    click.option("--task", "task_id", default="", metavar="ID", help="The task this wait belongs to."),
    click.option("--force", is_flag=True, help="Arm a sentence also where no judge is configured for it."),
    click.option("--label", default="", metavar="TEXT", help="A name for people to know it by."),
)


def address_options(command: Command) -> Command:
    """Give a command the options that say whom to wake, and how."""
    for option in reversed(_ADDRESS_OPTIONS):
        command = option(command)
    return command


_ADDRESS_OPTIONS = (
    click.option(
        "--route",
        "routes",
        multiple=True,
        type=click.Choice([name.value for name in RouteName]),
        help="Wake over this route, before those named after it (default: as set).",
    ),
    click.option(
        "--session-key", default="", metavar="KEY", help="The OpenClaw session to wake (default: the main one)."
    ),
    click.option(
        "--agent", "agent_id", default="", metavar="ID", help="The OpenClaw agent to wake (default: the main one)."
    ),
)


def address_of(given: dict[str, Any]) -> WakeAddress:
    """Return the address in the options."""
    routes = tuple(RouteName(name) for name in given["routes"]) or None
    try:
        # What the daemon would refuse is refused here, as a usage error that names the option.
        return msgspec.convert(
            {"routes": routes, "session_key": given["session_key"], "agent_id": given["agent_id"]}, WakeAddress
        )
    except msgspec.ValidationError as fault:
        raise click.UsageError(f"--session-key or --agent: {fault}") from fault


def wanted_of(given: dict[str, Any]) -> Until | None:
    """Return the condition in the options, or None."""
    return condition_of(Wanted(**{name: given[name] for name in Wanted.__struct_fields__ if name in given}))


def arm(client: Client, given: dict[str, Any]) -> WaitReply:
    """Create the wait that the options describe, and tell its notes on standard error."""
    until = wanted_of(given)
    if until is None:
        raise click.UsageError("say what to wait for: a sentence, or --text, --gone, --window, --change, --stable")
    return client.wait_create(
        until,
        target_of(given["target"], given["region"]),
        display=given["display"],
        ignore=boxes(given["ignore"]),
        timeout_s=given["timeout"],
        policy=policy_of(given),
        judge=JudgeName(given["judge"]),
        task_id=given["task_id"],
        label=given["label"],
        wake=address_of(given),
        budget=budget_of(given),
        force=given["force"],
    )


def tell_notes(notes: tuple[str, ...]) -> None:
    """Print what the daemon wants the caller to know."""
    for note in notes:
        warn(f"note: {note}")


def tell_result(reply: WaitReply) -> None:
    """Print how the result of a wait that nobody stays with is got."""
    if reply.woken_by:
        warn(f"note: its end wakes whoever waits, over {', '.join(reply.woken_by)}")
    else:
        warn(f"note: no wake route is set; get its result with: acud wait result {reply.wait.wait_id}")


def armed_line(wait: WaitInfo) -> str:
    """Return one line about a wait that was just armed."""
    where = target_in_words(wait.spec.target, wait.display)
    return f"armed {wait.wait_id}: {in_words(wait.spec.until)}, on {where}, {time_given(wait.spec.timeout_s)}"
