"""From options to a wait: condition, policy, judge, budget and wake address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from click.shell_completion import CompletionItem
from msgspec.inspect import BoolType, EnumType, FloatType, IntType, NoneType, Type, UnionType, type_info
from msgspec.structs import FieldInfo, fields

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert, decode_json
from acud.base.value_errors import describe_decode_fault, value_fault
from acud.protocol import codec
from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.types import (
    Budget,
    ConditionWords,
    Criteria,
    JudgeName,
    Policy,
    RouteName,
    Then,
    Until,
    WaitInfo,
    WakeAddress,
    condition_text,
    target_text,
)
from acud.types.conditions.arguments import ARGUMENTS, KINDS, join_parts, list_refinements, read_parts
from acud.types.conditions.kind import Argument, Refinement
from acud_cli.formatting import time_given
from acud_cli.options import (
    BOX,
    DURATION,
    EnumChoice,
    Number,
    WholeNumber,
    boxes,
    choose_task,
    pick,
    target_of,
    target_options,
    together,
)
from acud_cli.session import warn
from acud_client.image_files import png_of
from acud_client.sync import Client

Fields = TypeVar("Fields", Policy, Budget)


def _name_option(one: Argument | Refinement, name: str) -> str:
    return f"--{one.option or name.removesuffix('_s').replace('_', '-')}"


def _make_argument_option(one: Argument) -> Callable[[Any], Any]:
    name = _name_option(one, one.name)
    if one.gives is bool:
        return click.option(name, one.name, is_flag=True, help=one.help)
    kind = DURATION if one.gives is float else None
    return click.option(name, one.name, type=kind, multiple=kind is None, metavar=one.metavar, help=one.help)


def _make_refinement_option(one: Refinement, field: FieldInfo) -> Callable[[Any], Any]:
    name, shape = _name_option(one, one.field), type_info(field.type)
    if isinstance(shape, BoolType):
        return click.option(name, one.field, is_flag=True, help=one.help)
    if isinstance(shape, UnionType):
        return click.option(f"{name}/--no-{name[2:]}", one.field, default=None, help=one.help)
    kind = _choose_type(shape, one.field)
    return click.option(name, one.field, type=kind, default=field.default, metavar=one.metavar, help=one.help)


def _choose_type(shape: Type, name: str) -> Any:
    """Return the type of an option for a field of that shape and name; None: a text."""
    match shape:
        case EnumType(cls=members):
            return EnumChoice(members)
        case IntType(ge=least, le=most):
            return WholeNumber(least, most)
        case FloatType(ge=least, le=most):
            return DURATION if name.endswith("_s") else Number(least, most)
    return None


def _make_field_options(kind: type[Policy | Budget]) -> Iterator[Callable[[Any], Any]]:
    """Yield an option for each field of `kind`, None where it is not given."""
    for field in fields(kind):
        shape, text = type_info(field.type), kind.help[field.name].format(field.default)
        if isinstance(shape, UnionType):
            shape = next(one for one in shape.types if not isinstance(one, NoneType))
        name = "--" + field.name.removesuffix("_s").removesuffix("_usd").replace("_", "-")
        if isinstance(shape, BoolType):
            yield click.option(f"{name}/--no-{name[2:]}", field.name, default=None, help=text)
        else:
            unit = "USD" if field.name.endswith("_usd") else None
            yield click.option(name, field.name, type=_choose_type(shape, field.name), metavar=unit, help=text)


condition_options = together(
    *(
        option
        for kind in KINDS
        for option in (
            *(_make_argument_option(one) for one in kind.arguments if one.help),
            *(_make_refinement_option(*both) for both in list_refinements(kind) if both[0].help),
        )
    ),
    click.option("--any", is_flag=True, help="One of the conditions is enough (default: all of them)."),
    click.option(
        "--appears-then-goes",
        metavar="T",
        default="",
        help="The text T was seen, and later is gone (a spinner's words); nothing else but --then goes with it.",
    ),
    click.option(
        "--then",
        multiple=True,
        metavar="T",
        help="After all that, the text T is visible later. Give it again for a further stage.",
    ),
    click.option(
        "--until",
        metavar="WORDS",
        default="",
        help="A sentence, or a nested condition as JSON (docs/protocol.md), as the actions take it.",
    ),
)
CONDITION_NAMES = {
    *(one.name for one in ARGUMENTS),
    *(one.field for one, _ in list_refinements() if one.help),
    *("any", "appears_then_goes", "then", "until"),
}
"""Of the options that make a condition, by their names in Python."""


def find_condition(options: Mapping[str, Any]) -> Until | None:
    """Return the condition in the options, None without one. Raises: click.UsageError, InvalidRequest."""
    asked = {name: value for name, value in options.items() if name in CONDITION_NAMES}
    parts = read_parts(asked, {bytes: png_of, Path: _make_absolute})
    if words := asked.get("until"):
        parts.append(nested_condition(words) if words.lstrip().startswith("{") else Criteria(words))
    until = join_parts(parts, asked)
    taken = [*parts, *(until.parts if isinstance(until, Then) else ())]
    for one, field in list_refinements():
        value = asked.get(one.field)
        if value not in (None, field.default) and not any(getattr(leaf, one.field, None) == value for leaf in taken):
            raise click.UsageError(f"{_name_option(one, one.field)} belongs to no condition that was given. {one.help}")
    return until


def _make_absolute(path: str) -> str:
    """Return an absolute path, relative to this folder, for the daemon."""
    return path if path == "~" or path.startswith("~/") else os.path.abspath(path)  # noqa: PTH100  # no link followed


def nested_condition(text: str) -> Until:
    try:
        plain = decode_json(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as fault:
        raise click.UsageError(describe_decode_fault(fault, Any, "--until")) from None
    try:
        return codec.convert(plain, Until)  # type: ignore[arg-type]  # a union is a type to msgspec
    except InvalidRequest as fault:
        raise click.UsageError(f"--until: {fault.message}") from None


policy_options = together(*_make_field_options(Policy))
budget_options = together(*_make_field_options(Budget))


def replace_given(base: Fields, options: dict[str, Any]) -> Fields:
    changes = {name: options[name] for name in base.__struct_fields__ if options.get(name) is not None}
    return msgspec.structs.replace(base, **changes)


def _complete_command(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the commands of `acud wait` where a sentence or one of them can stand."""
    if not isinstance(ctx.command, click.Group):
        return []
    return [
        CompletionItem(name, help=command.get_short_help_str())
        for name, command in ctx.command.commands.items()
        if name.startswith(incomplete)
    ]


address_options = together(
    click.option(
        "--route",
        "routes",
        multiple=True,
        type=EnumChoice(RouteName),
        help="Wake over this route, before those named after it (default: as set).",
    ),
    click.option(
        "--session-key", default="", metavar="KEY", help="The OpenClaw session to wake (default: the main one)."
    ),
    click.option(
        "--agent", "agent_id", default="", metavar="ID", help="The OpenClaw agent to wake (default: the main one)."
    ),
)


new_wait_options = together(
    click.argument("criteria", required=False, default="", shell_complete=_complete_command),
    condition_options,
    target_options,
    click.option(
        "--judge",
        default=JudgeName.AUTO.value,
        metavar="NAME",
        help="The judge to ask: auto (default), ocr or a backend by its name.",
    ),
    policy_options,
    budget_options,
    address_options,
    click.option("--ignore", type=BOX, multiple=True, help="Ignore changes in this part of the target (a clock)."),
    click.option("--timeout", type=DURATION, help="How long to wait at most (default: as set, 5m; 0: look once)."),
    choose_task("The task this wait belongs to."),
    click.option("--force", is_flag=True, help="Arm the sentence even if no judge is configured for it."),
    click.option(
        "label",
        "--name",
        "--label",
        default="",
        metavar="TEXT",
        help="What it is called in lists. --label: its former name, until 0.3.",
    ),
    click.option("--note", default="", metavar="TEXT", help="Why, and what comes next: first in the wake."),
)
"""Every option of a new wait."""


def make_address(options: dict[str, Any]) -> WakeAddress:
    routes = options["routes"] or None
    try:
        # Values that the daemon would refuse are refused here, as a usage error that names the option.
        return convert(
            {"routes": routes, "session_key": options["session_key"], "agent_id": options["agent_id"]}, WakeAddress
        )
    except msgspec.ValidationError as fault:
        raise click.UsageError(f"--session-key or --agent: {value_fault(fault, WakeAddress).of('the address')}") from (
            fault
        )


def arm_wait(client: Client, options: dict[str, Any]) -> WaitReply:
    """Create the wait that the options describe, and print its notes on standard error."""
    until = find_condition(options)
    if until is None:
        raise click.UsageError(
            "say what to wait for: a sentence, or --text, --gone, --number, --image, --window, --widget, --change, "
            "--stable, --file, --process or --notification"
        )
    return client.wait_create(
        until,
        target_of(options["target"], options["region"]),
        ignore=boxes(options["ignore"]),
        timeout_s=options["timeout"],
        policy=replace_given(Policy(), options),
        wake=make_address(options),
        budget=replace_given(Budget(), options),
        **pick(options, "display", "judge", "task_id", "label", "force", "note"),
    )


action_wait_options = together(
    click.option(
        "--until",
        default="",
        metavar="WORDS",
        help="Then wait until this sentence holds, or this condition in JSON; whatever the action brings is seen.",
    ),
    click.option("--until-text", default="", metavar="T", help="Then wait until the text T is visible."),
    click.option("--until-fresh", is_flag=True, help="What holds already does not count: it must come anew."),
    click.option("--until-timeout", type=DURATION, metavar="DURATION", help="How long at most (default: as set, 5m)."),
)
"""The wait that comes with an action."""


def make_action_wait(options: dict[str, Any]) -> WaitCreate | None:
    """Return the wait of `action_wait_options`, or None. Raises: click.UsageError."""
    words, text, timeout_s = options["until"].strip(), options["until_text"], options["until_timeout"]
    until = find_condition({"text": text, "until": words})
    if until is not None:
        return WaitCreate(until, timeout_s=timeout_s, policy=Policy(fresh=options["until_fresh"]))
    if timeout_s is not None or options["until_fresh"]:
        raise click.UsageError("--until-timeout and --until-fresh belong to --until and --until-text")
    return None


def print_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        warn(f"note: {note}")


def print_result_command(reply: WaitReply) -> None:
    if reply.woken_by:
        warn(f"note: its end goes over {', '.join(reply.woken_by)}; or: acud wait result {reply.wait.wait_id}")
    else:
        warn(f"note: no wake route is set; get its result with: acud wait result {reply.wait.wait_id}")


def describe_place(wait: WaitInfo) -> str:
    """Return where a wait looks; one for files and processes alone looks at no display."""
    is_somewhere = wait.display or wait.spec.target.pty
    return target_text(wait.spec.target, wait.display) if is_somewhere else "no display"


def format_armed(wait: WaitInfo) -> str:
    what = condition_text(wait.spec.until, ConditionWords.DETAILED)
    return f"armed {wait.wait_id}: {what}, on {describe_place(wait)}, {time_given(wait.spec.timeout_s)}"
