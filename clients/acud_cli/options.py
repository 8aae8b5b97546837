"""Options that many commands share: durations, boxes, sizes, labels, targets, tasks."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, TypeVar

import click

from acud.types import Rect

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


class Duration(click.ParamType[float]):
    """Seconds, plain or with units: `300`, `0.5`, `90s`, `5m`, `1h30m`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        seconds = value if isinstance(value, int | float) else seconds_of(str(value))
        if seconds is None:
            self.fail(f"{value!r} is not a duration; write 300, 90s, 5m or 1h30m", param, ctx)
        return float(seconds)


def seconds_of(text: str) -> float | None:
    """Return the seconds that `text` names, or None."""
    compact = text.strip().replace(" ", "")
    if re.fullmatch(r"\d+(\.\d+)?", compact):
        return _finite(float(compact))
    parts = _PART.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        return None
    return _finite(sum(float(number) * _UNITS[unit] for number, unit in parts))


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


class Box(click.ParamType[tuple[int, ...]]):
    """A box in pixels: `x,y,w,h`, origin at the top left."""

    name = "x,y,w,h"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the four numbers."""
        if isinstance(value, tuple):
            return value
        if not re.fullmatch(r"-?\d+(,-?\d+){2},\d+", str(value).replace(" ", "")):
            self.fail(f"{value!r} is not a box; write x,y,w,h in pixels, such as 0,0,400,30", param, ctx)
        x, y, w, h = (int(part) for part in str(value).split(","))
        if w <= 0 or h <= 0:
            self.fail(f"{value!r} is empty: width and height must be above 0", param, ctx)
        return (x, y, w, h)


class SizeType(click.ParamType[tuple[int, int]]):
    """A size in pixels: `1280x720`."""

    name = "WxH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return width and height."""
        if isinstance(value, tuple):
            return (value[0], value[1])
        found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", str(value))
        if found is None:
            self.fail(f"{value!r} is not a size; write 1280x720", param, ctx)
        return int(found[1]), int(found[2])


DURATION = Duration()
BOX = Box()
SIZE = SizeType()


def labels_of(words: tuple[str, ...]) -> dict[str, str]:
    """Return the labels that `words` are. Raises: click.UsageError for one that is not NAME=VALUE."""
    found = dict[str, str]()
    for word in words:
        name, sign, value = word.partition("=")
        if not (name and sign and value):
            raise click.UsageError(f"{word!r} is no label; write NAME=VALUE")
        found[name] = value
    return found


Command = TypeVar("Command", bound=Callable[..., Any])
Member = TypeVar("Member", bound=StrEnum)


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command all of `options`, listed in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class EnumChoice(click.Choice[Member]):
    """A choice among the values of an enum; the command gets the member."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        """Return the value that a caller writes."""
        return str(choice.value if isinstance(choice, Enum) else choice)


def limit_option(most: int, default: int, words: str = "At most this many.") -> Callable[[Command], Command]:
    """Return the option `--limit`."""
    return click.option("--limit", "-n", type=click.IntRange(1, most), default=default, show_default=True, help=words)


display_option = click.option("--display", "-d", default="", metavar="NAME", help="The display, such as :100.")
label_option = click.option(
    "--label", "labels", multiple=True, metavar="NAME=VALUE", help="What its host must carry, in a fleet."
)
lease_option = click.option(
    "--lease", default="", envvar="ACU_LEASE", metavar="ID", help="Your lease on a display that is taken over."
)
zip_option = click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The ZIP file to write."
)
target_options = together(
    click.option(
        "--target",
        "-t",
        default="",
        metavar="TARGET",
        help="screen, display:NAME, window:TITLE-OR-ID, region:x,y,w,h, pty:SESSION or monitor:NAME-OR-NUMBER "
        "(default: screen).",
    ),
    display_option,
    click.option("--region", type=BOX, help="Only this part of the display, in its pixels."),
)
task_option = click.option(
    "--task", "task_id", default="", metavar="ID", help="Use this task's display, and log it in the task."
)


def target_of(target: str, region: tuple[int, ...] | None, window: str = "") -> str:
    """Return the target as the protocol writes it. Raises: click.UsageError when two were named."""
    named = [target] if target else []
    named += [f"window:{window}"] if window else []
    named += ["region:" + ",".join(map(str, region))] if region else []
    if len(named) > 1:
        raise click.UsageError(f"{named[0]} and {named[1]} are two targets; name one")
    return named[0] if named else "screen"


def boxes(given: tuple[tuple[int, ...], ...]) -> tuple[Rect, ...]:
    """Return `--ignore` boxes as rectangles."""
    return tuple(Rect(*box) for box in given)
