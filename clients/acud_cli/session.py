"""What every command shares: the daemon's client, output for people or programs, pictures in files and pipes.

The client and msgspec load when they are used: `acud mcp` has answered its host's first questions by then.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from acud.base.errors import AcudError, DaemonDown, UsageError
from acud.base.ids import short_id
from acud_cli.formatting import plain, plain_json

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import Console, RenderableType
    from rich.text import Text

    from acud.base.paths import Paths
    from acud_client.own_display import OwnDisplay
    from acud_client.sync import Client


_TIMEOUT_S = 10.0
_WATCH_S = 2.0
_PIPE_WIDTH = 4000
"""Columns assumed where standard output is no terminal: nothing is cut for a program or a file."""


class Session:
    """One run of the command line."""

    def __init__(self) -> None:
        self.json = False
        self.quiet = False
        """Whether nothing but errors is printed, and the JSON that was asked for."""
        self.fleet = False
        """Whether every command speaks to the endpoint of a fleet instead of this host's daemon."""

    @property
    def home(self) -> Paths:
        """The daemon's places that ACU_HOME and HOME name, with a fleet or without."""
        from acud.base.paths import resolve

        return resolve(os.environ)

    @property
    def paths(self) -> Paths:
        """The paths of the daemon or endpoint that the commands speak to."""
        return self.home.of_fleet() if self.fleet else self.home

    def daemon_client(self) -> Client:
        """Return a client of this host's daemon, which closes with the command."""
        return _client(self.home)

    def fleet_client(self) -> Client:
        """Return a client of the fleet's endpoint, which closes with the command."""
        return _client(self.home, fleet=True)

    def only_here(self, what: str) -> None:
        """Raises: UsageError for a command about one daemon that was given `--fleet`."""
        if self.fleet:
            raise UsageError(
                f"{what} is about one daemon", hint="run it on its host without --fleet; acud fleet --help"
            )

    def client(self, *, timeout_s: float | None = None) -> Client:
        """Return a client of the daemon or endpoint that the commands speak to; it closes with the command."""
        from acud_client.own_display import find_own_display

        return _client(self.paths, timeout_s=timeout_s, here=None if self.fleet else find_own_display(os.environ, warn))

    def show(self, reply: Any, human: Callable[[], None]) -> None:
        if self.json:
            print(as_json(reply), flush=True)
        elif not self.quiet:
            human()

    def watch(self, read: Callable[[], Any], show: Callable[[Any], None]) -> None:
        """Print what `read` returns again and again until Ctrl-C; on a terminal in place of the one before."""
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                try:
                    reply = read()
                    if sys.stdout.isatty() and not self.json:
                        click.clear()
                    self.show(reply, functools.partial(show, reply))
                except DaemonDown as fault:
                    warn(fault.message)
                time.sleep(_WATCH_S)


def _client(
    paths: Paths, *, timeout_s: float | None = None, fleet: bool = False, here: OwnDisplay | None = None
) -> Client:
    from acud_client.sync import Client

    seconds = _TIMEOUT_S if timeout_s is None else timeout_s
    client = Client(paths, timeout_s=seconds, fleet=fleet, here=here)
    return click.get_current_context().with_resource(client)


def as_json(value: Any) -> str:
    """Return `value` (structs, plain values) as one line of JSON that is safe to print on a terminal."""
    import msgspec

    return plain_json(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


def is_quiet() -> bool:
    """Return whether the run is to print nothing but errors."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and session_of(ctx).quiet


def say(text: str = "") -> None:
    """Print one line of an answer, made harmless."""
    if not is_quiet():
        print(plain(text), flush=True)


def say_all(lines: Iterable[str]) -> None:
    """Print lines of an answer, each made harmless."""
    for line in lines:
        say(line)


def warn(text: str) -> None:
    """Print one line beside the answer, on standard error, made harmless."""
    if not is_quiet():
        print(plain(text), file=sys.stderr, flush=True)


def console(*, stderr: bool = False) -> Console:
    """Return a rich console that interprets no markup; texts must come as `rich.text.Text` or through `plain`."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(stderr=stderr, quiet=is_quiet(), markup=False, emoji=False, highlight=False, width=width)


def print_lines(lines: Iterable[Text]) -> None:
    """Print styled lines; long ones are left to the terminal to wrap, so that they copy as one."""
    out = console()
    for line in lines:
        out.print(line, soft_wrap=True)


def print_table(table: RenderableType) -> None:
    """Print a table without the blanks that would pad its last column."""
    if is_quiet():
        return
    out = console()
    with out.capture() as captured:
        out.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)


def set_flag(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """Note in the run's session that its flag of that name was given, before or behind the command."""
    if wanted:
        setattr(session_of(ctx), str(param.name), True)


def session_of(ctx: click.Context) -> Session:
    """Return the run's session; the first call makes it."""
    root = ctx.find_root()
    if not isinstance(root.obj, Session):
        root.obj = Session()
    return root.obj


Completion = Callable[..., "list[CompletionItem]"]


def complete_names(names: Callable[[Client, str], Iterable[tuple[str, str]]]) -> Completion:
    """Return a completion by `names`, which asks the daemon, given what is typed already; each name with its help; none
    without a daemon.
    """

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            with ctx:
                found = list(names(session_of(ctx).client(timeout_s=1.0), incomplete))
        except AcudError:
            return []
        return [CompletionItem(one, help=plain(words)) for one, words in found if one.startswith(incomplete)]

    return complete


def complete_ids(ids: Callable[[Client], Iterable[tuple[str, str]]]) -> Completion:
    """Return a completion of ids: of their endings, or of the whole where one is begun, each with its help."""

    def forms(client: Client, incomplete: str) -> Iterable[tuple[str, str]]:
        for one, words in ids(client):
            yield (short_id(one) if short_id(one).startswith(incomplete) else one), words

    return complete_names(forms)


def pass_session(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--json` and `--quiet`, and as its first argument the run's session, which remembers them."""

    @functools.wraps(command)
    def run_with_session(*args: Any, **kwargs: Any) -> Any:
        return command(session_of(click.get_current_context()), *args, **kwargs)

    flag = functools.partial(click.option, is_flag=True, is_eager=True, expose_value=False, callback=set_flag)
    quiet = flag("--quiet", "-q", help="Print only errors; the exit code tells the rest.")
    return flag("--json", help="Print JSON instead of text.")(quiet(run_with_session))


def with_path(reply: Any, path: Path | None) -> dict[str, Any]:
    """Return `reply` as plain values, with the `path` of its picture, if it has one, instead of the picture's bytes."""
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(reply, builtin_types=(bytes,))
    if plain.get("picture") is not None:
        del plain["picture"]["image"]
        plain["picture"]["path"] = str(path)
    return plain


def write_picture(output: Path, data: bytes) -> None:
    """Write `data` to the file `output`, whole or not at all, or to standard output for `-`.

    Raises: click.UsageError when standard output is a terminal; OSError naming the file.
    """
    if str(output) == "-":
        if sys.stdout.isatty():
            raise click.UsageError("standard output is a terminal; send it to a file or a pipe, or give -o FILE")
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif output.exists() and not output.is_file():
        output.write_bytes(data)  # a device or a pipe: nothing to replace
    else:
        _replace_file(output, data)


def _replace_file(output: Path, data: bytes) -> None:
    partial = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(data)
        partial.replace(output)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise OSError(fault.errno, fault.strerror, str(output)) from fault
