"""What every `acud do` command shares: its place arguments and options, one action, and its output."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from acud.protocol.requests.actions import ActionReply
from acud.types.actions import Action, ElementId, Place, Point
from acud_cli.exit_codes import Exit
from acud_cli.options import DURATION, Command, task_option
from acud_cli.session import Session, say, warn, write_picture

_NUMBER = re.compile(r"[+-]?\d{1,5}")
_LIMIT = 32767


def places(words: Sequence[str], most: int) -> list[Place]:
    """Return the places that `words` are, at most `most`. Raises: click.UsageError for anything else."""
    left = list(words)
    found: list[Place] = []
    while left and len(found) < most:
        found.append(_taken(left))
    if left:
        raise click.UsageError(f"{left[0]!r} is one too many")
    return found


def place(words: Sequence[str]) -> Place | None:
    """Return the one place, or None when none is given."""
    return next(iter(places(words, 1)), None)


def _taken(left: list[str]) -> Place:
    """Return the place that `left` begins with, and take it off."""
    element = _element(left[0])
    if element is not None:
        left.pop(0)
        return element
    if len(left) < 2:
        raise click.UsageError(f"a place is X and Y, or an id such as t3-12; only {left[0]!r} was given")
    return Point(_number(left.pop(0)), _number(left.pop(0)))


def _element(word: str) -> ElementId | None:
    try:
        return msgspec.convert(word.lower(), ElementId)
    except msgspec.ValidationError:
        return None


def _number(word: str) -> int:
    if not _NUMBER.fullmatch(word) or abs(int(word)) > _LIMIT:
        raise click.UsageError(f"{word!r} is neither a coordinate nor an id such as t3-12")
    return int(word)


_JPEG = (".jpg", ".jpeg")


def act_options(command: Command) -> Command:
    """Give a command what says where to act, and what to show after it."""
    options = (
        click.option("--display", "-d", default="", metavar="NAME", help="The display, such as :100."),
        click.option(
            "--target",
            "-t",
            default="screen",
            metavar="TARGET",
            help="Points are from its top left: a window, a region.",
        ),
        click.option("--view", default="", metavar="TOKEN", help="Points are of the picture with this view token."),
        task_option,
        click.option(
            "--lease", default="", envvar="ACU_LEASE", metavar="ID", help="Your lease on a display that is taken over."
        ),
        click.option(
            "--picture",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Save a picture of the display afterwards.",
        ),
        click.option(
            "--settle",
            type=DURATION,
            default=0.3,
            help="With --picture: first wait until nothing changed for this long.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def run_action(
    session: Session, action: Action, given: dict[str, Any], human: Callable[[ActionReply], None] | None = None
) -> int:
    """Do `action` where `given` (of `act_options`) says; `human` prints the reply. Return the exit code."""
    picture: Path | None = given["picture"]
    with session.client() as client:
        reply = client.desktop_action(
            action,
            target=given["target"],
            display=given["display"],
            view=given["view"],
            picture=picture is not None,
            format="jpeg" if picture is not None and picture.suffix.lower() in _JPEG else "png",
            settle_s=given["settle"],
            task_id=given["task_id"],
            lease=given["lease"],
        )
    if picture is not None and reply.picture is not None:
        write_picture(picture, reply.picture.image)
    session.show(_plain(reply, picture), lambda: human(reply) if human else None)
    _tell_rest(session, reply, picture)
    return Exit.TIMEOUT if reply.idle is False else Exit.OK


def _plain(reply: ActionReply, path: Path | None) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(reply, builtin_types=(bytes,))
    if reply.picture is not None:
        plain["picture"] = {name: value for name, value in plain["picture"].items() if name != "image"}
        plain["picture"]["path"] = str(path)
    return plain


def _tell_rest(session: Session, reply: ActionReply, path: Path | None) -> None:
    if session.json:
        return
    if reply.picture is not None:
        say(f"{path}: {reply.picture.width}x{reply.picture.height}, view {reply.picture.view}")
    if reply.settled is False:
        warn("it was still changing when the picture was taken")
    if reply.note:
        warn(reply.note)
