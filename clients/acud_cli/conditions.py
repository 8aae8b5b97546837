"""From options to a condition: `--text`, `--gone`, `--window` … become `until`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from acud.errors import InvalidRequest
from acud.protocol import codec
from acud.types import AllOf, AnyOf, Change, Criteria, NotOf, Stable, Text, Until, WindowTitle
from acud_cli.values import DURATION

Command = TypeVar("Command", bound=Callable[..., Any])


class Wanted(msgspec.Struct, frozen=True):
    """What the options said; empty means not given."""

    criteria: str = ""
    text: tuple[str, ...] = ()
    regex: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    match_case: bool = False
    window: tuple[str, ...] = ()
    window_gone: tuple[str, ...] = ()
    change: bool = False
    share: float = 0.0
    settle: float = 0.0
    since: str = ""
    stable: float | None = None
    any_of: bool = False
    until: str = ""


_OPTIONS = (
    click.option("--text", multiple=True, metavar="T", help="The text T is visible (white space and case folded)."),
    click.option("--regex", multiple=True, metavar="R", help="Visible text matches the regular expression R."),
    click.option("--gone", multiple=True, metavar="T", help="The text T is no longer visible."),
    click.option("--match-case", is_flag=True, help="Tell upper from lower case in --text, --regex and --gone."),
    click.option("--window", multiple=True, metavar="TITLE", help="A window whose title contains TITLE is there."),
    click.option("--window-gone", multiple=True, metavar="TITLE", help="No window's title contains TITLE."),
    click.option("--change", is_flag=True, help="Any pixel of the target changed."),
    click.option(
        "--share", type=click.FloatRange(0, 1), default=0.0, help="With --change: at least this part of the target."
    ),
    click.option("--settle", type=DURATION, default=0.0, help="With --change: and then nothing for so long."),
    click.option("--since", metavar="TOKEN", default="", help="With --change: since this token (acud baseline)."),
    click.option("--stable", type=DURATION, metavar="DURATION", help="Nothing in the target changed for so long."),
    click.option("--any", "any_of", is_flag=True, help="One of the conditions is enough (default: all of them)."),
    click.option("--until", metavar="JSON", default="", help="A nested condition as in docs/protocol.md, as JSON."),
)


def condition_options(command: Command) -> Command:
    """Give a command the options that say what to wait for."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def condition_of(wanted: Wanted) -> Until | None:
    """Return the condition, or None when no option named one. Raises: click.UsageError, InvalidRequest."""
    parts = list(_parts(wanted))
    _check_companions(wanted)
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    return AnyOf(tuple(parts)) if wanted.any_of else AllOf(tuple(parts))


def _parts(wanted: Wanted) -> list[Until]:
    case = wanted.match_case
    parts: list[Until] = [Criteria(wanted.criteria)] if wanted.criteria else []
    parts += [Text(text, match_case=case) for text in wanted.text]
    parts += [Text(text, regex=True, match_case=case) for text in wanted.regex]
    parts += [Text(text, gone=True, match_case=case) for text in wanted.gone]
    parts += [WindowTitle(title) for title in wanted.window]
    parts += [WindowTitle(title, gone=True) for title in wanted.window_gone]
    if wanted.change:
        parts.append(Change(wanted.share, wanted.settle, wanted.since))
    if wanted.stable is not None:
        parts.append(Stable(wanted.stable))
    return parts + ([_nested(wanted.until)] if wanted.until else [])


def _nested(text: str) -> Until:
    try:
        plain = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as fault:
        raise click.UsageError(f"--until is not JSON: {fault}") from None
    try:
        return codec.convert(plain, Until)  # type: ignore[arg-type]  # a union is a type to msgspec
    except InvalidRequest as fault:
        raise click.UsageError(f"--until: {fault.message}") from None


def _check_companions(wanted: Wanted) -> None:
    if not wanted.change and (wanted.share or wanted.settle or wanted.since):
        raise click.UsageError("--share, --settle and --since belong to --change")
    if wanted.match_case and not (wanted.text or wanted.regex or wanted.gone):
        raise click.UsageError("--match-case belongs to --text, --regex and --gone")


def in_words(until: Until) -> str:
    """Return the condition as a person would say it."""
    match until:
        case Criteria():
            return until.criteria
        case Text():
            return f"text {'/' + until.text + '/' if until.regex else repr_of(until.text)}{_gone(until.gone)}"
        case WindowTitle():
            return f"window {'/' + until.title + '/' if until.regex else repr_of(until.title)}{_gone(until.gone)}"
        case Change():
            return f"a change{f' of {until.share:.0%}' if until.share else ''}{_settled(until.settle_s)}"
        case Stable():
            return f"no change for {until.stable_s:g} s"
        case NotOf():
            return f"not ({in_words(until.part)})"
        case AllOf():
            return " and ".join(map(_nested_words, until.parts))
        case AnyOf():
            return " or ".join(map(_nested_words, until.parts))


def repr_of(text: str) -> str:
    """Return `text` in double quotes."""
    return f'"{text}"'


def _gone(gone: bool) -> str:
    return " gone" if gone else ""


def _settled(settle_s: float) -> str:
    return f", then {settle_s:g} s without one" if settle_s else ""


def _nested_words(until: Until) -> str:
    words = in_words(until)
    return f"({words})" if isinstance(until, AllOf | AnyOf) else words
