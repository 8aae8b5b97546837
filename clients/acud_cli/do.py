"""`acud do`: act on a display: the mouse, the keyboard, windows, the clipboard, programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from acud.base.typed_values import convert
from acud.protocol.requests.actions import ActionReply
from acud.types import actions
from acud.types.action_effects import effect_lines
from acud.types.actions import Action, Button, Direction, ElementId, Place, Point, WindowVerb
from acud_cli.display import make_window_table
from acud_cli.exit_codes import Exit, exit_of_state
from acud_cli.options import (
    DURATION,
    SIZE,
    EnumChoice,
    PictureFile,
    WholeNumber,
    choose_target,
    display_option,
    lease_option,
    pick,
    picture_kind,
    task_option,
    together,
)
from acud_cli.session import Session, pass_session, print_table, say, say_all, warn, with_path, write_picture
from acud_cli.wait_options import action_wait_options, make_action_wait
from acud_cli.wait_text import ACTION_BLOCK_S, follow_action_wait, print_action_wait, print_left_wait

_NUMBER = re.compile(r"[+-]?\d{1,5}")
_LIMIT = 32767


def parse_places(words: Sequence[str], most: int) -> list[Place]:
    """Return the places in `words`, at most `most`. Raises: click.UsageError for anything else."""
    left = list(words)
    found: list[Place] = []
    while left and len(found) < most:
        element = _parse_element(left[0])
        if element is None and len(left) < 2:
            raise click.UsageError(f"a place is X and Y, or an id such as t3-12; only {left[0]!r} was given")
        found.append(element or Point(*map(_parse_number, left[:2])))
        del left[: 1 if element else 2]
    if left:
        raise click.UsageError(f"{left[0]!r} is one too many")
    return found


def parse_place(words: Sequence[str]) -> Place | None:
    return next(iter(parse_places(words, 1)), None)


def _parse_element(word: str) -> ElementId | None:
    try:
        return convert(word.lower(), ElementId)
    except msgspec.ValidationError:
        return None


def _parse_number(word: str) -> int:
    if not _NUMBER.fullmatch(word) or abs(int(word)) > _LIMIT:
        if word.startswith("--"):  # a number below 0 may reach us as a word
            ctx = click.get_current_context()
            known = [one for param in ctx.command.get_params(ctx) for one in param.opts]
            raise click.NoSuchOption(word, possibilities=known, ctx=ctx)
        raise click.UsageError(f"{word!r} is neither a coordinate nor an id such as t3-12")
    return int(word)


_at_options = together(
    display_option,
    choose_target("Points are from its top left: a window, a region."),
    click.option("--view", default="", metavar="TOKEN", help="Points are of the picture with this view token."),
    task_option,
    lease_option,
)
act_options = together(
    _at_options,
    click.option(
        "--picture",
        type=PictureFile(".png", ".jpg", ".jpeg"),
        metavar="FILE",
        help="Save a picture of the display afterwards.",
    ),
    click.option(
        "--settle", type=DURATION, default=0.3, help="With --picture: first wait until nothing changed for this long."
    ),
    action_wait_options,
    pass_session,
)
"""Where to act, what to show after it, and the session."""


def run_action(
    session: Session,
    action: Action,
    options: dict[str, Any],
    human: Callable[[ActionReply], None] | None = None,
    clipboard_file: Path | None = None,
) -> int:
    """Do `action` as `options` (of `act_options`) describes; `human` prints the reply, `clipboard_file` gets the
    clipboard's picture. Return the exit code.
    """
    picture: Path | None = options.get("picture")
    client = session.client()
    wait = make_action_wait(options)
    with print_left_wait(wait):
        reply = client.desktop_action(
            action,
            picture=picture is not None,
            format=picture_kind(picture),
            settle_s=options.get("settle", 0.0),
            wait=wait,
            block_s=ACTION_BLOCK_S,
            **pick(options, "target", "display", "view", "task_id", "lease"),
        )
        reply = follow_action_wait(session, client, reply)
    if picture is not None and reply.picture is not None:
        write_picture(picture, reply.picture.image)
    if clipboard_file is not None:
        write_picture(clipboard_file, reply.clipboard_picture)
    shown = with_path(reply, picture) | {"clipboard_picture": str(clipboard_file or "")}
    session.show(shown, lambda: human(reply) if human else None)
    _print_rest(session, reply, picture)
    if reply.idle is False or reply.wait is None:
        return Exit.TIMEOUT if reply.idle is False else Exit.OK
    return exit_of_state(reply.wait.wait.state)


def _print_rest(session: Session, reply: ActionReply, path: Path | None) -> None:
    if session.json:
        return
    if reply.picture is not None:
        say(f"{path}: {reply.picture.width}x{reply.picture.height}, view {reply.picture.view}")
    if reply.settled is False:
        warn("it was still changing when the picture was taken")
    if reply.note:
        warn(reply.note)
    for line in effect_lines(reply.effects, only_moved_focus=True) if reply.effects is not None else ():
        warn(line)
    if reply.wait is not None:
        print_action_wait(reply.wait)


_COORDINATE = WholeNumber(-32768, 32767)
_LITERAL = {"ignore_unknown_options": True}
"""Of commands that take coordinates: -5 is a number there, not an option."""

_button_option = click.option(
    "--button", type=EnumChoice(Button), default=Button.LEFT.value, show_default=True, help="Which button."
)
_keys_option = click.option("--keys", default="", metavar="KEYS", help="Held meanwhile, such as ctrl or ctrl+shift.")


@click.group(short_help="Act on a display: click, type, windows, programs.")
def do() -> None:
    """Act on a display: the mouse, the keyboard, windows, the clipboard, programs.

    Points are pixels of the display, of --target (from the top left of a window or region), or of the picture that
    --view belongs to. With --picture the display is shown as it is once nothing changes any more. With --until the
    command stays until that is so: exit code 0 then, 3 when the time is over.

    \b
    acud do click 100 200
    acud do type "Hello" && acud do key Return
    acud do click 60 20 --target 'window:Save as' --picture after.png
    acud do click 60 20 --until-text "Saved" --until-timeout 5s
    """


@do.command("click", short_help="Click: at X Y, on an element, where the pointer is.", context_settings=_LITERAL)
@click.argument("where", nargs=-1, metavar="[X Y | ID]")
@_button_option
@click.option("--count", type=WholeNumber(1, 3), default=1, show_default=True, help="2: a double click.")
@_keys_option
@act_options
def do_click(
    session: Session, *, where: tuple[str, ...], button: Button, count: int, keys: str, **options: object
) -> int:
    """Click at X Y, on the element with that ID of a scene, or where the pointer is.

    \b
    acud do click 100 200 --button right
    acud do click 100 200 --count 2 --keys ctrl
    acud do click t3-12
    """
    return run_action(session, actions.Click(parse_place(where), button, count, keys), options)


@do.command("move", short_help="Move the pointer.", context_settings=_LITERAL)
@click.argument("where", nargs=-1, required=True, metavar="X Y | ID")
@act_options
def do_move(session: Session, *, where: tuple[str, ...], **options: object) -> int:
    """Move the pointer to X Y, or to the element with that ID of a scene.

    \b
    acud do move 400 300
    acud do move t3-12
    """
    (to,) = parse_places(where, 1)
    return run_action(session, actions.Move(to), options)


@do.command("drag", short_help="Drag from one place to another.", context_settings=_LITERAL)
@click.argument("where", nargs=-1, required=True, metavar="[X Y | ID] [TO_X TO_Y | TO_ID]")
@_button_option
@_keys_option
@act_options
def do_drag(session: Session, *, where: tuple[str, ...], button: Button, keys: str, **options: object) -> int:
    """Press at the first place, move to the second, release there; each is X Y, or the ID of an element of a scene.

    \b
    acud do drag 100 100 300 100
    acud do drag t3-12 t3-14
    """
    ends = parse_places(where, 2)
    if len(ends) < 2:
        raise click.UsageError("a drag needs two places: where from, and where to")
    return run_action(session, actions.Drag(ends[1], ends[0], button, keys), options)


@do.command("scroll", short_help="Turn the wheel.")
@click.argument("direction", type=EnumChoice(Direction))
@click.argument("amount", type=WholeNumber(1, 100), default=3)
@click.option("--at", nargs=2, type=_COORDINATE, metavar="X Y", help="There, instead of where the pointer is.")
@click.option(
    "element",
    "--over",
    "--on",
    default="",
    metavar="ID",
    help="Over this element of a scene, instead. --on: its former name, until 0.3.",
)
@_keys_option
@act_options
def do_scroll(
    session: Session,
    *,
    direction: Direction,
    amount: int,
    at: tuple[int, int] | None,
    element: str,
    keys: str,
    **options: object,
) -> int:
    """Turn the wheel AMOUNT clicks (3) up, down, left or right.

    \b
    acud do scroll down
    acud do scroll up 10 --at 400 300
    """
    if at and element:
        raise click.UsageError("--at and --over are two places; give one")
    over = Point(*at) if at else parse_place([element] if element else [])
    return run_action(session, actions.Scroll(direction, amount, over, keys), options)


@do.command("cursor", short_help="Say where the pointer is.")
@act_options
def do_cursor(session: Session, **options: object) -> int:
    """Print where the pointer is, in pixels of the display.

    \b
    acud do cursor
    acud do cursor --display :100
    """
    return run_action(
        session,
        actions.CursorPosition(),
        options,
        lambda reply: say(f"{reply.cursor.x} {reply.cursor.y}") if reply.cursor else None,
    )


@do.command("key", short_help="Press chords, such as ctrl+shift+t.")
@click.argument("chords", nargs=-1, required=True, metavar="CHORD...")
@act_options
def do_key(session: Session, *, chords: tuple[str, ...], **options: object) -> int:
    """Press and release each CHORD: X keysym names joined by +.

    \b
    acud do key ctrl+a Delete
    acud do key alt+F4
    """
    return run_action(session, actions.Key(" ".join(chords)), options)


@do.command("type", short_help="Type text, whatever the keyboard's layout.")
@click.argument("text")
@act_options
def do_type(session: Session, *, text: str, **options: object) -> int:
    """Type TEXT, any Unicode; - reads it from standard input.

    \b
    acud do type "Grüße, 世界"
    pass show mail | acud do type -
    """
    return run_action(session, actions.TypeText(sys.stdin.read().removesuffix("\n") if text == "-" else text), options)


@do.command("hold", short_help="Hold a chord or a button down.")
@click.argument("what")
@click.option("--for", "for_s", type=DURATION, default=0.0, metavar="DURATION", help="Release it by itself after this.")
@act_options
def do_hold(session: Session, *, what: str, for_s: float, **options: object) -> int:
    """Press WHAT (shift, mouse:left) and keep it pressed until `acud do release`.

    \b
    acud do hold shift --for 5s
    acud do hold mouse:left
    """
    return run_action(session, actions.Hold(what, for_s), options)


@do.command("release", short_help="Release what is held.")
@click.argument("what", default="")
@act_options
def do_release(session: Session, *, what: str, **options: object) -> int:
    """Release WHAT, or everything that acud holds on the display.

    \b
    acud do release
    acud do release shift
    """
    return run_action(session, actions.Release(what), options)


@do.group("clipboard", short_help="Read or set the clipboard.")
def clipboard() -> None:
    """Read or set the clipboard of a display."""


_primary_option = click.option("--primary", is_flag=True, help="The primary selection (the middle button's).")


@clipboard.command("get", short_help="Print the clipboard's text.")
@_primary_option
@click.option("--picture", type=PictureFile(".png"), metavar="FILE", help="Save its picture instead, in PNG.")
@_at_options
@action_wait_options
@pass_session
def get_clipboard(session: Session, *, primary: bool, picture: Path | None, **options: object) -> int:
    """Print the clipboard's text, or save its picture.

    \b
    acud do clipboard get
    acud do clipboard get --primary
    acud do clipboard get --picture copied.png
    """
    get = actions.ClipboardGet("primary" if primary else "clipboard", picture is not None)
    return run_action(session, get, options, lambda reply: say(str(picture) if picture else reply.text), picture)


@clipboard.command("set", short_help="Set the clipboard to a text.")
@click.argument("text")
@_primary_option
@act_options
def set_clipboard(session: Session, *, text: str, primary: bool, **options: object) -> int:
    """Set the clipboard to TEXT; - reads it from standard input.

    \b
    acud do clipboard set "a text"
    date | acud do clipboard set -
    """
    copied = sys.stdin.read() if text == "-" else text
    return run_action(session, actions.ClipboardSet(copied, "primary" if primary else "clipboard"), options)


@do.command("launch", short_help="Start a program on a display.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARG]...")
@click.option("--cwd", default="", metavar="DIR", help="Its working directory (default: the daemon's home).")
@act_options
def do_launch(session: Session, *, command: tuple[str, ...], cwd: str, **options: object) -> int:
    """Start PROGRAM on a display and print its pid; it outlives the daemon, and ends with a display of acud's own.

    \b
    acud do launch -- xterm -title Work
    """
    return run_action(session, actions.Launch(command, cwd), options, lambda reply: say(str(reply.pid)))


@do.command("launch-status", short_help="Show how a launched program fares.")
@click.argument("pid", type=WholeNumber(1, 4_194_304))
@pass_session
def show_launch_status(session: Session, *, pid: int) -> None:
    """Show whether the program that `acud do launch` started as PID runs, how it ended, and the last that it wrote.

    To wait for its end: acud wait --process PID

    \b
    acud do launch-status 4711
    """
    found = session.client().launch_status(pid)
    head = f"{found.program} ({found.pid}) on {found.display}: {found.end or 'running'}"
    session.show(found, lambda: say_all([head, *(f"  {line}" for line in found.last_lines)]))


@do.command("idle", short_help="Wait until nothing changes.")
@click.option("--stable", type=DURATION, default=0.5, show_default=True, help="Nothing changed for this long.")
@click.option("--timeout", type=DURATION, default=10.0, show_default=True, help="Wait at most this long (up to 60 s).")
@act_options
def do_idle(session: Session, *, stable: float, timeout: float, **options: object) -> int:
    """Wait until nothing on the display changes; exit code 3 when it does not come to rest in time.

    \b
    acud do idle
    acud do idle --stable 2s --timeout 30s
    """
    return run_action(
        session,
        actions.WaitIdle(stable, timeout),
        options,
        lambda reply: say("idle" if reply.idle else "still changing"),
    )


@do.group(short_help="Focus, raise, move, resize, close or minimise a window.")
def window() -> None:
    """Focus, raise, move, resize, close, minimise, maximise or restore a window.

    A window is NAMEd by a part of its title (the topmost that can be seen), by its id, or `active`.
    """


def _plain_verb(verb: WindowVerb, summary: str) -> None:
    @window.command(verb.value, short_help=summary, help=f"{summary}\n\n\b\nacud do window {verb.value} Firefox")
    @click.argument("name")
    @act_options
    def do_verb(session: Session, *, name: str, **options: Any) -> int:
        return run_action(session, actions.WindowDo(name, verb), options)


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
def move_window(session: Session, *, name: str, x: int, y: int, **options: Any) -> int:
    """Move the window NAME so that its client area begins at X Y.

    \b
    acud do window move Firefox 0 0
    """
    return run_action(session, actions.WindowDo(name, WindowVerb.MOVE, Point(x, y)), options)


@window.command("resize", short_help="Resize a window.")
@click.argument("name")
@click.argument("size", type=SIZE)
@act_options
def resize_window(session: Session, *, name: str, size: tuple[int, int], **options: Any) -> int:
    """Give the window NAME the client area SIZE, such as 800x600.

    \b
    acud do window resize Firefox 800x600
    """
    return run_action(session, actions.WindowDo(name, WindowVerb.RESIZE, size=size), options)


@do.command("windows", short_help="List the windows of a display.")
@click.argument("match", default="")
@act_options
def list_windows(session: Session, *, match: str, **options: Any) -> int:
    """List the windows of a display with MATCH in their title, topmost first.

    \b
    acud do windows
    acud do windows report --display :100
    """
    none = f"no window matches {match!r}" if match else "no windows"
    return run_action(
        session,
        actions.WindowList(match),
        options,
        lambda one: print_table(make_window_table(one.windows, 0)) if one.windows else say(f"{none} on {one.display}"),
    )
