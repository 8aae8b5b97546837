"""`acud events`: what happened, and what happens."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size

import click

from acud.base.errors import AcudError
from acud.protocol.events import Event
from acud_cli.event_words import describe_event
from acud_cli.exit_codes import Exit
from acud_cli.formatting import moment, plain, shorten
from acud_cli.options import WholeNumber, limit_option
from acud_cli.session import Session, as_json, pass_session, say, warn
from acud_client.call import is_away
from acud_client.stream import EventStream, Trimmed
from acud_client.sync import Client

_RETRY_S = 1.0


@click.command(short_help="Show what happened, and with --follow what happens.")
@click.option("--follow", "-f", is_flag=True, help="Go on as events happen, also over a restart of the daemon.")
@click.option("--topic", default="", metavar="PREFIX", help="Only topics that begin so: wait., display.")
@click.option(
    "after",
    "--after",
    "--since",
    type=WholeNumber(0),
    metavar="N",
    help="Only what is newer than this number. --since: its former name, until 0.3.",
)
@limit_option(1000, 20, "Or the last so many.", least=0, former="--last")
@pass_session
def events(session: Session, *, follow: bool, topic: str, after: int | None, limit: int) -> int:
    """Show stored events: waits armed, judged and ended, displays up and down, processes restarted.

    With --json: one document with all that they hold, or with --follow one a line.

    \b
    acud events --limit 50
    acud events --follow --topic wait.
    """
    client = session.client()
    after = _start(client, limit) if after is None else after
    if follow:
        return _follow(session, client, topic, after)
    reply = client.events_since(after, topic=topic, limit=1000)
    session.show(reply, lambda: _print(reply.events, reply.trimmed, after))
    return Exit.OK


def _start(client: Client, last: int) -> int:
    return max(0, client.events_since(0, limit=1).newest - last)


def _print(events: tuple[Event, ...], oldest: int, after: int) -> None:
    if oldest > after + 1:
        warn(_describe_trimmed(Trimmed(after, oldest)))
    for event in events:
        say(format_event(event))


def format_event(event: Event) -> str:
    """Return one event as a line: its number, when, and what happened."""
    line = f"{event.n:>6}  {moment(event.utc_s)}  {describe_event(event)}"
    return shorten(line, get_terminal_size().columns) if sys.stdout.isatty() else plain(line)


def _describe_trimmed(gap: Trimmed) -> str:
    return f"note: events {gap.after + 1} to {gap.first - 1} are no longer kept"


def _follow(session: Session, client: Client, topic: str, after: int) -> int:
    try:
        with client.events(topic=topic, after=after) as stream:
            while True:
                _print_gap(session, _read_next(stream))
    except KeyboardInterrupt:
        return Exit.OK


def _read_next(stream: EventStream) -> Event | Trimmed:
    told = False
    while True:
        try:
            return next(stream)
        except AcudError as fault:
            if not is_away(fault):
                raise
            if not told:
                warn("note: the daemon is away; going on when it is back")
            told = True
            time.sleep(_RETRY_S)


def _print_gap(session: Session, item: Event | Trimmed) -> None:
    if session.json:
        print(as_json(item), flush=True)
    elif isinstance(item, Trimmed):
        warn(_describe_trimmed(item))
    else:
        say(format_event(item))
