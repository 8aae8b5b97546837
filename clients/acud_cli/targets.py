"""From options to a target: `--target`, or the shorthands `--display`, `--region` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from acud.types import Rect, Target
from acud_cli.values import BOX

Command = TypeVar("Command", bound=Callable[..., Any])


def target_options(command: Command) -> Command:
    """Give a command `--target`, `--display` and `--region`."""
    options = (
        click.option(
            "--target",
            "-t",
            default="",
            metavar="TARGET",
            help="screen, display:NAME, window:TITLE-OR-ID, region:x,y,w,h, pty:SESSION or monitor:NAME-OR-NUMBER "
            "(default: screen).",
        ),
        click.option("--display", "-d", default="", metavar="NAME", help="The display, such as :100."),
        click.option("--region", type=BOX, help="Only this part of the display, in its pixels."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def task_option(command: Command) -> Command:
    """Give a command `--task`."""
    option = click.option("--task", "task_id", default="", metavar="ID", help="On this task's display, logged there.")
    return option(command)


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


def target_in_words(target: Target, display: str) -> str:
    """Return a wait's target as a person would say it."""
    place = display or target.display or "the default display"
    if target.window:
        return f'window "{target.window}" on {place}'
    if target.region:
        box = target.region
        return f"{box.w}x{box.h}+{box.x}+{box.y} of {place}"
    return place
