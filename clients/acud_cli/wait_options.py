"""From options to a wait: condition, policy, judge, budget and wake address."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import click
import msgspec
from click.shell_completion import CompletionItem

from acud.base.errors import InvalidRequest
from acud.base.typed_values import convert, decode_json
from acud.base.value_errors import describe_decode_fault, value_fault
from acud.protocol import codec
from acud.protocol.requests.waits import WaitCreate, WaitReply
from acud.types import (
    AllOf,
    AnyOf,
    Budget,
    Cadence,
    Change,
    ConditionWords,
    Criteria,
    FileState,
    GateKind,
    JudgeName,
    NotificationText,
    OnBudget,
    OnDisplayLost,
    OnHostLost,
    Policy,
    Priority,
    ProcessExit,
    RouteName,
    ScreenImage,
    Stable,
    Text,
    Until,
    WaitInfo,
    WakeAddress,
    WindowTitle,
    appears_then_goes,
    condition_text,
    in_sequence,
    number_condition,
    target_text,
    widget_condition,
)
from acud_cli.formatting import time_given
from acud_cli.options import (
    BOX,
    DURATION,
    EnumChoice,
    Number,
    WholeNumber,
    boxes,
    complete_tasks,
    target_of,
    target_options,
    together,
)
from acud_cli.session import warn
from acud_client.image_files import png_of
from acud_client.sync import Client

Fields = TypeVar("Fields", Policy, Budget)


class Wanted(msgspec.Struct, frozen=True):
    """The values of the options; empty means not given."""

    criteria: str = ""
    text: tuple[str, ...] = ()
    regex: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    match_case: bool = False
    whole_words: bool = False
    count: int = 1
    number: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    image_gone: tuple[str, ...] = ()
    similarity: float | None = None
    window: tuple[str, ...] = ()
    window_gone: tuple[str, ...] = ()
    widget: tuple[str, ...] = ()
    change: bool = False
    share: float = 0.0
    settle: float = 0.0
    since: str = ""
    stable: float | None = None
    file: tuple[str, ...] = ()
    file_gone: tuple[str, ...] = ()
    still: float | None = None
    newer: bool | None = None
    process: tuple[int, ...] = ()
    notification: tuple[str, ...] = ()
    notification_regex: tuple[str, ...] = ()
    ignore_blinking: bool = False
    any_of: bool = False
    appears_then_goes: str = ""
    then: tuple[str, ...] = ()
    until: str = ""


condition_options = together(
    click.option("--text", multiple=True, metavar="T", help="The text T is visible (white space and case folded)."),
    click.option("--regex", multiple=True, metavar="R", help="Visible text matches the regular expression R."),
    click.option("--gone", multiple=True, metavar="T", help="The text T is no longer visible."),
    click.option("--match-case", is_flag=True, help="Tell upper from lower case in --text, --regex and --gone."),
    click.option("--whole-words", is_flag=True, help="Whole words only in --text and --gone: no Saved in Unsaved."),
    click.option("--count", type=WholeNumber(1, 1000), default=1, help="--text or --regex is there at least N times."),
    click.option(
        "--number",
        multiple=True,
        metavar="N",
        help='A number on the screen compares: "Progress >= 90 %", "= 0 errors".',
    ),
    click.option(
        "--image",
        multiple=True,
        metavar="FILE",
        help="The picture in the PNG file is visible; FILE#x,y,w,h: only this part of it.",
    ),
    click.option("--image-gone", multiple=True, metavar="FILE", help="The picture is not, or no longer, visible."),
    click.option(
        "--similarity",
        type=Number(0.5, 1),
        help="How alike --image and --image-gone must be (default 0.9; 1: equal pixels).",
    ),
    click.option("--window", multiple=True, metavar="TITLE", help="A window whose title contains TITLE is there."),
    click.option("--window-gone", multiple=True, metavar="TITLE", help="No window's title contains TITLE."),
    click.option(
        "--widget",
        multiple=True,
        metavar="W",
        help="A widget is so: 'button \"Submit\" enabled', 'entry \"Name\" = \"Ada\"', 'dialog gone'.",
    ),
    click.option("--change", is_flag=True, help="Any pixel of the target changed."),
    click.option("--share", type=Number(0, 1), default=0.0, help="With --change: at least this part of the target."),
    click.option("--settle", type=DURATION, default=0.0, help="With --change: then nothing changed for this long."),
    click.option("--since", metavar="TOKEN", default="", help="With --change: since this token (acud baseline)."),
    click.option("--stable", type=DURATION, metavar="DURATION", help="Nothing in the target changed for this long."),
    click.option(
        "--ignore-blinking", is_flag=True, help="With --stable or --settle: but for what only blinks, such as a caret."
    ),
    click.option(
        "--file",
        multiple=True,
        metavar="PATH",
        help="The file PATH is there and complete; for a pattern such as '*.pdf' a new one.",
    ),
    click.option("--file-gone", multiple=True, metavar="PATH", help="No file PATH is there."),
    click.option("--still", type=DURATION, help="With --file: nothing changed it for this long (default 1s)."),
    click.option(
        "--newer/--no-newer",
        default=None,
        help="With --file: only one created or changed from now on counts (default: of a pattern alone).",
    ),
    click.option(
        "--process", multiple=True, type=WholeNumber(1, 4_194_304), metavar="PID", help="The process PID has ended."
    ),
    click.option(
        "--notification", multiple=True, metavar="T", help="A desktop notification with the text T is given or open."
    ),
    click.option("--notification-regex", multiple=True, metavar="R", help="One that matches the regular expression R."),
    click.option("--any", "any_of", is_flag=True, help="One of the conditions is enough (default: all of them)."),
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


def make_condition(wanted: Wanted) -> Until | None:
    """Return the condition, or None when no option named one. Raises: click.UsageError, InvalidRequest."""
    parts = list(_list_parts(wanted))
    _check_companions(wanted)
    later = [_make_text(wanted, text) for text in wanted.then]
    if wanted.appears_then_goes:
        if parts:
            raise click.UsageError("--appears-then-goes stands alone, or before --then")
        return in_sequence(appears_then_goes(_make_text(wanted, wanted.appears_then_goes)), *later)
    if not parts:
        if later:
            raise click.UsageError("--then needs something that comes before it: a sentence, --text, --change …")
        return None
    first = parts[0] if len(parts) == 1 else AnyOf(tuple(parts)) if wanted.any_of else AllOf(tuple(parts))
    return in_sequence(first, *later)


def _make_text(wanted: Wanted, text: str) -> Text:
    return Text(text, match_case=wanted.match_case, whole_words=wanted.whole_words)


def _list_parts(wanted: Wanted) -> list[Until]:
    case, whole, count = wanted.match_case, wanted.whole_words, wanted.count
    parts: list[Until] = [Criteria(wanted.criteria)] if wanted.criteria else []
    parts += [Text(text, match_case=case, whole_words=whole, count=count) for text in wanted.text]
    parts += [Text(text, regex=True, match_case=case, count=count) for text in wanted.regex]
    parts += [Text(text, gone=True, match_case=case, whole_words=whole) for text in wanted.gone]
    parts += [number_condition(text) for text in wanted.number]
    alike = ScreenImage().similarity if wanted.similarity is None else wanted.similarity
    parts += [ScreenImage(png_of(file), similarity=alike) for file in wanted.image]
    parts += [ScreenImage(png_of(file), gone=True, similarity=alike) for file in wanted.image_gone]
    parts += [WindowTitle(title) for title in wanted.window]
    parts += [WindowTitle(title, gone=True) for title in wanted.window_gone]
    parts += [widget_condition(text) for text in wanted.widget]
    if wanted.change:
        blinking = wanted.ignore_blinking and wanted.settle > 0
        parts.append(Change(wanted.share, wanted.settle, wanted.since, blinking))
    if wanted.stable is not None:
        parts.append(Stable(wanted.stable, wanted.ignore_blinking))
    still_s = FileState("/").still_s if wanted.still is None else wanted.still
    parts += [FileState(_make_absolute(path), still_s, newer=wanted.newer) for path in wanted.file]
    parts += [FileState(_make_absolute(path), gone=True) for path in wanted.file_gone]
    parts += [ProcessExit(pid) for pid in wanted.process]
    parts += [NotificationText(text) for text in wanted.notification]
    parts += [NotificationText(text, regex=True) for text in wanted.notification_regex]
    return parts + ([_parse_condition(wanted.until)] if wanted.until else [])


def _parse_condition(words: str) -> Until:
    return nested_condition(words) if words.lstrip().startswith("{") else Criteria(words)


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


def _check_companions(wanted: Wanted) -> None:
    if not wanted.change and (wanted.share or wanted.settle or wanted.since):
        raise click.UsageError("--share, --settle and --since belong to --change")
    if not wanted.file and (wanted.still is not None or wanted.newer is not None):
        raise click.UsageError("--still and --newer belong to --file")
    sequence = wanted.appears_then_goes or wanted.then
    if wanted.match_case and not (wanted.text or wanted.regex or wanted.gone or sequence):
        raise click.UsageError("--match-case belongs to --text, --regex and --gone")
    if wanted.whole_words and not (wanted.text or wanted.gone or sequence):
        raise click.UsageError("--whole-words belongs to --text and --gone")
    if wanted.ignore_blinking and wanted.stable is None and not wanted.settle:
        raise click.UsageError("--ignore-blinking belongs to --stable and --settle")
    if wanted.count > 1 and not (wanted.text or wanted.regex):
        raise click.UsageError("--count belongs to --text and --regex")
    if wanted.similarity is not None and not (wanted.image or wanted.image_gone):
        raise click.UsageError("--similarity belongs to --image and --image-gone")


def _explain_default(words: str, field: str) -> str:
    return f"{words} (default {getattr(Policy(), field):g} s)."


policy_options = together(
    click.option(
        "--cadence",
        type=EnumChoice(Cadence),
        help="event: when pixels changed (default); fixed: every --interval; adaptive: rarer while nothing moves.",
    ),
    click.option(
        "--interval",
        "interval_s",
        type=DURATION,
        help=_explain_default("Tick of `fixed`, and of `event` at the latest", "interval_s"),
    ),
    click.option(
        "--min-interval",
        "min_interval_s",
        type=DURATION,
        help=_explain_default("Shortest time between two judgements", "min_interval_s"),
    ),
    click.option(
        "--force-after",
        "force_after_s",
        type=DURATION,
        help=_explain_default("Judge at the latest after this long", "force_after_s"),
    ),
    click.option(
        "--gate",
        type=EnumChoice(GateKind),
        help="What lets a changed frame through; only none and exact never miss a change.",
    ),
    click.option("--gate-threshold", type=Number(0), help="Threshold of a lossy gate."),
    click.option("--confirm", type=WholeNumber(1, 20), help="Yeses needed, each on another picture (default 1)."),
    click.option(
        "--hold", "hold_s", type=DURATION, help=_explain_default("What is gone must stay gone so long", "hold_s")
    ),
    click.option("--fresh/--no-fresh", default=None, help="What holds already does not count: it must come anew."),
    click.option(
        "--priority",
        type=EnumChoice(Priority),
        help="Whose judgements go first when there are more than can be made (default normal).",
    ),
    click.option(
        "--on-display-lost",
        type=EnumChoice(OnDisplayLost),
        help="When its managed display ends or is removed: fail at once (default), or wait to the deadline.",
    ),
    click.option(
        "--on-host-lost",
        type=EnumChoice(OnHostLost),
        help="When the fleet has lost its host: fail at the deadline (default), or rearm on another host.",
    ),
)


"""Of a policy, by the names of its fields; each is None when not given."""


def make_policy(given: dict[str, Any], base: Policy | None = None) -> Policy:
    """Return `base` changed by the given options."""
    return _replace_given(base or Policy(), given)


def _replace_given(base: Fields, given: dict[str, Any]) -> Fields:
    fields = {name: given.get(name) for name in base.__struct_fields__}
    return msgspec.structs.replace(base, **{name: value for name, value in fields.items() if value is not None})


budget_options = together(
    click.option(
        "--max-cost",
        "max_cost_usd",
        type=Number(0, 1_000_000),
        metavar="USD",
        help="Spend at most this much on judges.",
    ),
    click.option(
        "--max-evaluations",
        type=WholeNumber(0, 1_000_000_000),
        metavar="N",
        help="Ask vision judges at most this many times.",
    ),
    click.option(
        "--on-budget",
        type=EnumChoice(OnBudget),
        help="When that is spent: local (default): judge what costs nothing; fail: end the wait.",
    ),
)


"""Of a budget, by the names of its fields; each is None when not given."""


def make_budget(given: dict[str, Any], base: Budget | None = None) -> Budget:
    """Return `base` changed by the given options."""
    return _replace_given(base or Budget(), given)


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
    click.option(
        "--task",
        "task_id",
        default="",
        metavar="ID",
        shell_complete=complete_tasks,
        help="The task this wait belongs to.",
    ),
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


def make_address(given: dict[str, Any]) -> WakeAddress:
    """Return the address in the options."""
    routes = given["routes"] or None
    try:
        # Values that the daemon would refuse are refused here, as a usage error that names the option.
        return convert(
            {"routes": routes, "session_key": given["session_key"], "agent_id": given["agent_id"]}, WakeAddress
        )
    except msgspec.ValidationError as fault:
        raise click.UsageError(f"--session-key or --agent: {value_fault(fault, WakeAddress).of('the address')}") from (
            fault
        )


def find_condition(given: dict[str, Any]) -> Until | None:
    """Return the condition in the options, or None."""
    return make_condition(Wanted(**{name: given[name] for name in Wanted.__struct_fields__ if name in given}))


def arm_wait(client: Client, given: dict[str, Any]) -> WaitReply:
    """Create the wait that the options describe, and print its notes on standard error."""
    until = find_condition(given)
    if until is None:
        raise click.UsageError(
            "say what to wait for: a sentence, or --text, --gone, --number, --image, --window, --widget, --change, "
            "--stable, --file, --process or --notification"
        )
    return client.wait_create(
        until,
        target_of(given["target"], given["region"]),
        display=given["display"],
        ignore=boxes(given["ignore"]),
        timeout_s=given["timeout"],
        policy=make_policy(given),
        judge=given["judge"],
        task_id=given["task_id"],
        label=given["label"],
        wake=make_address(given),
        budget=make_budget(given),
        force=given["force"],
        note=given["note"],
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


def make_action_wait(given: dict[str, Any]) -> WaitCreate | None:
    """Return the wait of `action_wait_options`, or None. Raises: click.UsageError."""
    words, text, timeout_s = given["until"].strip(), given["until_text"], given["until_timeout"]
    until = make_condition(Wanted(text=(text,) if text else (), until=words))
    if until is not None:
        return WaitCreate(until, timeout_s=timeout_s, policy=Policy(fresh=given["until_fresh"]))
    if timeout_s is not None or given["until_fresh"]:
        raise click.UsageError("--until-timeout and --until-fresh belong to --until and --until-text")
    return None


def print_notes(notes: tuple[str, ...]) -> None:
    """Print the daemon's notes to the caller."""
    for note in notes:
        warn(f"note: {note}")


def print_result_command(reply: WaitReply) -> None:
    """Print how to get the result of a detached wait."""
    if reply.woken_by:
        warn(f"note: its end goes over {', '.join(reply.woken_by)}; or: acud wait result {reply.wait.wait_id}")
    else:
        warn(f"note: no wake route is set; get its result with: acud wait result {reply.wait.wait_id}")


def describe_place(wait: WaitInfo) -> str:
    """Return where a wait looks; one for files and processes alone looks at no display."""
    is_somewhere = wait.display or wait.spec.target.pty
    return target_text(wait.spec.target, wait.display) if is_somewhere else "no display"


def format_armed(wait: WaitInfo) -> str:
    """Return one line about a wait that was just armed."""
    what = condition_text(wait.spec.until, ConditionWords.DETAILED)
    return f"armed {wait.wait_id}: {what}, on {describe_place(wait)}, {time_given(wait.spec.timeout_s)}"
