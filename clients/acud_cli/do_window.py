"""`acud do window` and `acud do windows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from acud.desktop.actions import Point, WindowDo, WindowList, WindowVerb
from acud.protocol.requests.actions import ActionReply
from acud_cli.display import window_table
from acud_cli.doing import act_options, run
from acud_cli.session import Session, json_option, pass_session, print_table, say
from acud_cli.values import SIZE

_COORDINATE = click.IntRange(-32768, 32767)


@click.group(short_help="Focus, raise, move, resize, close or minimise a window.")
def window() -> None:
    """Focus, raise, move, resize, close, minimise, maximise or restore a window.

    A window is NAMEd by a part of its title (the topmost that can be seen), by its id, or `active`.
    """


def _plain_verb(verb: WindowVerb, summary: str) -> None:
    @window.command(verb.value, short_help=summary, help=summary)
    @click.argument("name")
    @act_options
    @json_option
    @pass_session
    def do_verb(session: Session, *, name: str, **given: Any) -> int:
        return run(session, WindowDo(name, verb), given)


_plain_verb(WindowVerb.FOCUS, "Give the window NAME the focus, and raise it.")
_plain_verb(WindowVerb.RAISE, "Bring the window NAME to the top.")
_plain_verb(WindowVerb.CLOSE, "Ask the window NAME to close.")
_plain_verb(WindowVerb.MINIMISE, "Minimise the window NAME.")
_plain_verb(WindowVerb.MAXIMISE, "Maximise the window NAME.")
_plain_verb(WindowVerb.RESTORE, "Undo minimising and maximising of the window NAME.")


@window.command("move", short_help="Move a window.", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("x", type=_COORDINATE)
@click.argument("y", type=_COORDINATE)
@act_options
@json_option
@pass_session
def move_window(session: Session, *, name: str, x: int, y: int, **given: Any) -> int:
    """Move the window NAME so that its client area begins at X Y."""
    return run(session, WindowDo(name, WindowVerb.MOVE, Point(x, y)), given)


@window.command("resize", short_help="Resize a window.")
@click.argument("name")
@click.argument("size", type=SIZE)
@act_options
@json_option
@pass_session
def resize_window(session: Session, *, name: str, size: tuple[int, int], **given: Any) -> int:
    """Give the window NAME the client area SIZE, such as 800x600."""
    return run(session, WindowDo(name, WindowVerb.RESIZE, size=size), given)


@click.command("windows", short_help="List the windows of a display.")
@click.argument("match", default="")
@act_options
@json_option
@pass_session
def list_windows(session: Session, *, match: str, **given: Any) -> int:
    """List the windows of a display whose title contains MATCH, topmost first."""
    return run(session, WindowList(match), given, _print(match))


def _print(match: str) -> Callable[[ActionReply], None]:
    def human(reply: ActionReply) -> None:
        if reply.windows:
            print_table(window_table(reply.windows, 0))
        else:
            say(f"no window matches {match!r} on {reply.display}" if match else f"no windows on {reply.display}")

    return human
