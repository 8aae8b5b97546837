"""Options that many commands share: durations, boxes, sizes, labels, targets, tasks."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource
from msgspec import Struct
from msgspec.structs import replace

from acud.types import DisplayInfo, Rect
from acud_cli.session import Session, complete_ids, complete_names
from acud_client.help_tables import TARGETS

if TYPE_CHECKING:
    from acud_client.sync import Client

Reply = TypeVar("Reply", bound=Struct)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


class Duration(click.ParamType[float]):
    """Seconds, plain or with units: `300`, `0.5`, `90s`, `5m`, `1h30m` (`acud help durations`)."""

    name = "duration"

    def __init__(self, most_s: float = math.inf) -> None:
        self._most_s = most_s

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = value if isinstance(value, int | float) else seconds_of(str(value))
        if seconds is None:
            self.fail(f"{value!r} is not a duration; write 300, 90s, 5m or 1h30m", param, ctx)
        if seconds > self._most_s:
            self.fail(f"{value} is longer than {self._most_s:g} s", param, ctx)
        return float(seconds)


def seconds_of(text: str) -> float | None:
    compact = text.strip().replace(" ", "")
    if re.fullmatch(r"\d+(\.\d+)?", compact):
        return _none_if_infinite(float(compact))
    parts = _PART.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        return None
    return _none_if_infinite(sum(float(number) * _UNITS[unit] for number, unit in parts))


def _none_if_infinite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


class Box(click.ParamType[tuple[int, ...]]):
    """A box in pixels: `x,y,w,h`, origin at the top left."""

    name = "x,y,w,h"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
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
        if isinstance(value, tuple):
            return (value[0], value[1])
        found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", str(value))
        if found is None:
            self.fail(f"{value!r} is not a size; write 1280x720", param, ctx)
        return int(found[1]), int(found[2])


class Number(click.ParamType[float]):
    """A number within limits, which its help and its refusals name in words."""

    name = "number"
    _noun = "a number"

    def __init__(self, least: float | None = None, most: float | None = None) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = self._read(str(value))
        except ValueError:
            self.fail(f"{value!r} is not {self._noun}", param, ctx)
        if not (self._least is None or number >= self._least) or not (self._most is None or number <= self._most):
            self.fail(f"{value} is not {self._describe_limits()}", param, ctx)
        return number

    def _read(self, text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(text)
        return number

    def _describe_limits(self) -> str:
        if self._most is None:
            return f"{self._least:g} or more"
        return f"between {self._least:g} and {self._most:g}" if self._most < 1e6 else f"at most {self._most:.0f}"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return its placeholder in a help: its limits, if it has two that matter to a person."""
        if self._least is None or self._most is None or self._most >= 100_000:
            return "N"
        return f"{self._least:g}..{self._most:g}"


class WholeNumber(Number):
    """A whole number within limits."""

    name = "whole number"
    _noun = "a whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return int(super().convert(value, param, ctx))

    def _read(self, text: str) -> float:
        return int(text)


DURATION = Duration()
BOX = Box()
SIZE = SizeType()


def labels_of(words: tuple[str, ...]) -> dict[str, str]:
    """Return `words` as labels. Raises: click.UsageError for one that is not NAME=VALUE."""
    found = dict[str, str]()
    for word in words:
        name, sign, value = word.partition("=")
        if not (name and sign and value):
            raise click.UsageError(f"{word!r} is no label; write NAME=VALUE")
        found[name] = value
    return found


_KINDS: dict[str, Literal["png", "jpeg"]] = {"": "png", ".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}


class PictureFile(click.ParamType[Path]):
    """A file that a picture is written to, or `-` for a pipe; its name ends as one of `kinds` does."""

    name = "file"

    def __init__(self, *kinds: str, pipe: bool = False) -> None:
        self._kinds = ("", *kinds)
        self._pipe = pipe

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.is_char_device() or path.is_fifo():
            return path
        if str(value) == "-" and not self._pipe:
            self.fail("this picture goes to a file; name one", param, ctx)
        if path.suffix.lower() not in self._kinds:
            known = " or ".join(self._kinds[1:])
            self.fail(f"no picture of the kind {path.suffix!r} is made; end the name with {known}", param, ctx)
        if path.is_dir():
            self.fail(f"{value} is a folder; name a file in it", param, ctx)
        return path


def picture_kind(path: Path | None) -> Literal["png", "jpeg"]:
    return _KINDS.get(path.suffix.lower(), "png") if path is not None else "png"


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
        """Return the value of `choice` as a caller writes it."""
        return str(choice.value if isinstance(choice, Enum) else choice)


def read_list(
    session: Session, read: Callable[[int, int], Reply], rows: str, limit: int, most: int, id_of: Callable[[Any], str]
) -> Reply:
    """Return the reply of `read(limit, offset)`; for a program (--json) that gives no --limit, with all rows there are.

    `rows`: the reply's field with the rows, each known by `id_of` it; `most`: as many as one reply may have.
    """
    given = click.get_current_context().get_parameter_source("limit") is not ParameterSource.DEFAULT
    if given or not session.json:
        return read(limit, 0)
    reply = read(most, 0)
    page = getattr(reply, rows)
    found = {id_of(row): row for row in page}
    while len(page) == most:
        # What is new by now moves the others on: a row may come twice.
        page = getattr(read(most, len(found)), rows)
        found.update((id_of(row), row) for row in page)
    return replace(reply, **{rows: tuple(found.values())})


def limit_option(
    most: int, default: int, words: str = "At most this many.", *, least: int = 1, former: str = ""
) -> Callable[[Command], Command]:
    """Return the option `--limit`; `former` is the name that it had before 0.2.0."""
    names = ["limit", "--limit", "-n", *([former] if former else [])]
    words += f" {former}: its former name, until 0.3." if former else ""
    return click.option(*names, type=WholeNumber(least, most), default=default, show_default=True, help=words)


def _display_items(displays: Iterable[DisplayInfo], prefix: str = "") -> Iterator[tuple[str, str]]:
    return ((prefix + one.name, f"{one.state}, {one.width}x{one.height}") for one in displays)


complete_displays = complete_names(lambda client, _: _display_items(client.display_list().displays))
complete_tasks = complete_ids(
    lambda client: ((one.task.task_id, one.task.name) for one in client.task_list(ended=True, limit=200).tasks)
)


def _list_targets(client: Client, prefix: str) -> Iterable[tuple[str, str]]:
    kind, sign, _ = prefix.partition(":")
    if not sign:
        return ((row.begun, row.words) for row in TARGETS)
    displays = client.display_list().displays
    if kind == "display":
        return _display_items(displays, "display:")
    if kind == "monitor":
        return ((f"monitor:{one.name}", display.name) for display in displays for one in display.monitors)
    windows = ((f"window:{one.title}", display.name) for display in displays for one in display.windows if one.title)
    return windows if kind == "window" else ()


complete_targets = complete_names(_list_targets)


def choose_target(words: str, default: str = "screen") -> Callable[[Command], Command]:
    return click.option(
        "--target", "-t", default=default, metavar="TARGET", shell_complete=complete_targets, help=words
    )


def choose_task(words: str) -> Callable[[Command], Command]:
    return click.option("--task", "task_id", default="", metavar="ID", shell_complete=complete_tasks, help=words)


display_option = click.option(
    "--display",
    "-d",
    default="",
    metavar="NAME",
    shell_complete=complete_displays,
    help="The display, such as :100 (default: the default one).",
)
watch_option = click.option("--watch", is_flag=True, help="Show it again every 2 s, until Ctrl-C.")
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
    choose_target(
        "The part of a screen to look at, such as window:Firefox (default: screen); see acud help targets.", ""
    ),
    display_option,
    click.option("--region", type=BOX, help="Only this part of the display, in its pixels."),
)
task_option = choose_task("Use this task's display, and log it in the task.")


def pick(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of these names, which are the request's names too."""
    return {name: options[name] for name in names}


def target_of(target: str, region: tuple[int, ...] | None, window: str = "") -> str:
    """Return the target as the protocol writes it. Raises: click.UsageError when two were named."""
    named = [target] if target else []
    named += [f"window:{window}"] if window else []
    named += ["region:" + ",".join(map(str, region))] if region else []
    if len(named) > 1:
        raise click.UsageError(f"{named[0]} and {named[1]} are two targets; name one")
    return named[0] if named else "screen"


def boxes(values: tuple[tuple[int, ...], ...]) -> tuple[Rect, ...]:
    return tuple(Rect(*box) for box in values)
