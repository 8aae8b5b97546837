"""`acud events`: what happened, and what happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from shutil import get_terminal_size
from typing import Any

import click

from acud.base.errors import AcudError
from acud.base.ids import short_id
from acud.base.untrusted_text import between_marks
from acud.protocol.events import Event
from acud_cli.exit_codes import Exit
from acud_cli.formatting import local_time, milliseconds, moment, plain, shorten
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
    after = _find_start(client, limit) if after is None else after
    if follow:
        return _follow_events(session, client, topic, after)
    reply = client.events_since(after, topic=topic, limit=1000)
    session.show(reply, lambda: _print_events(reply.events, reply.trimmed, after))
    return Exit.OK


def _find_start(client: Client, last: int) -> int:
    return max(0, client.events_since(0, limit=1).newest - last)


def _print_events(events: tuple[Event, ...], oldest: int, after: int) -> None:
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


def _follow_events(session: Session, client: Client, topic: str, after: int) -> int:
    try:
        with client.events(topic=topic, after=after) as stream:
            while True:
                _print_item(session, _read_next(stream))
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


def _print_item(session: Session, item: Event | Trimmed) -> None:
    if session.json:
        print(as_json(item), flush=True)
    elif isinstance(item, Trimmed):
        warn(_describe_trimmed(item))
    else:
        say(format_event(item))


_WAITS = {
    "created": "is armed",
    "updated": "was changed",
    "judged": "was judged",
    "note": "says",
    "stage": "reached a stage",
    "resolved": "resolved",
    "timeout": "timed out",
    "cancelled": "was cancelled",
    "failed": "failed",
}
_TASKS = {
    "registered": "began",
    "updated": "went on",
    "ended": "ended",
    "deleted": "was deleted",
    "stuck": "is stuck: its agent was told",
}
_WAKES = {"sent": "was sent", "seen": "was seen: its agent has the result", "undelivered": "reached nobody"}
_DISPLAYS = {
    "up": "is up",
    "down": "is down",
    "ended": "ended",
    "geometry": "changed its size",
    "limited": "is limited",
    "taken": "was taken over",
    "released": "was given back",
}
_CHILDREN = {"restarted": "was started again", "failed": "failed and is left alone"}
_FOR_PROGRAMS = ("identity", "message")
_RECORDINGS = {"started": "began", "ended": "ended", "deleted": "was deleted"}


def describe_event(event: Event) -> str:
    """Return what happened in a sentence, as the dashboard's feed does; words of a screen come last and are quoted."""
    noun, _, verb = event.topic.partition(".")
    tell = _TELLERS.get(noun)
    return tell(verb, event, event.data) if tell is not None else _make_plain(event)


def _describe_wait(verb: str, event: Event, data: dict[str, Any]) -> str:
    condition = f" ({data['condition']})" if data.get("condition") else ""
    where = f" on {data['display']}" if data.get("display") else ""
    answer = f" {data['answer']}" if verb == "judged" and data.get("answer") else ""
    judge = f" by {data['judge']}" if verb == "judged" and data.get("judge") else ""
    took = f" in {milliseconds(data['latency_ms'])}" if verb == "judged" and data.get("latency_ms") else ""
    seen = data.get("detail") or data.get("text") or data.get("note") or data.get("reason")
    rest = f"{answer}{judge}{took}{_quote_seen(seen)}"
    return f"wait {short_id(event.subject)}{condition}{where} {_WAITS.get(verb, verb)}{rest}"


def _describe_task(verb: str, event: Event, data: dict[str, Any]) -> str:
    name = f" {between_marks(str(data['name']))}" if data.get("name") else ""
    does = _TASKS.get(verb, verb)
    if verb == "updated":
        does = _describe_change(data) or does
    elif verb == "ended" and data.get("status"):
        does = f"is {data['status']}"
    where = f" on {data['display']}" if data.get("display") and verb == "registered" else ""
    return f"task {short_id(event.subject)}{name} {does}{where}"


def _describe_change(data: dict[str, Any]) -> str:
    if data.get("status") and data.get("item") is not None:
        return f"has item {data['item']} {data['status']}"
    if data.get("status"):
        return f"is {data['status']}"
    return f"has {data['appended']} more items" if data.get("appended") else ""


def _describe_wake(verb: str, event: Event, data: dict[str, Any]) -> str:
    of = f" of wait {short_id(str(data['wait_id']))}" if data.get("wait_id") else ""
    of += f" ({data['tells']})" if data.get("tells") else ""
    way = f" over {data['sent_by']}" if data.get("sent_by") else ""
    return f"wake {short_id(event.subject)}{of} {_WAKES.get(verb, verb)}{way}{_quote_reason(data)}"


def _describe_display(verb: str, event: Event, data: dict[str, Any]) -> str:
    who = f" by {data['who']}" if data.get("who") else ""
    until = f" until {local_time(data['until_utc_s'])[:8]}" if data.get("until_utc_s") else ""
    return f"display {short_id(event.subject)} {_DISPLAYS.get(verb, verb)}{who}{until}{_quote_reason(data)}"


def _describe_child(verb: str, event: Event, data: dict[str, Any]) -> str:
    name = " ".join(map(short_id, event.subject.split()))
    return f"process {name} {_CHILDREN.get(verb, verb)}{_quote_reason(data)}"


def _describe_recording(verb: str, event: Event, data: dict[str, Any]) -> str:
    where = f" on {data['display']}" if data.get("display") else ""
    return f"recording {short_id(event.subject)} {_RECORDINGS.get(verb, verb)}{where}{_quote_reason(data)}"


def _describe_judge(_verb: str, _event: Event, data: dict[str, Any]) -> str:
    return f"judges: {', '.join(f'{name} {state}' for name, state in data.items())}"


def _describe_daemon(verb: str, _event: Event, data: dict[str, Any]) -> str:
    return f"the daemon: {verb.replace('_', ' ')}{_describe_facts(data)}"


_TELLERS: dict[str, Callable[[str, Event, dict[str, Any]], str]] = {
    "wait": _describe_wait,
    "task": _describe_task,
    "wake": _describe_wake,
    "display": _describe_display,
    "child": _describe_child,
    "recording": _describe_recording,
    "judge": _describe_judge,
    "daemon": _describe_daemon,
}


def _make_plain(event: Event) -> str:
    return f"{event.topic.replace('.', ' ')}: {short_id(event.subject)}{_describe_facts(event.data)}"


def _describe_facts(data: dict[str, Any]) -> str:
    plain = {
        name: value
        for name, value in data.items()
        if isinstance(value, str | int | float) and value != "" and name not in _FOR_PROGRAMS
    }
    told = ", ".join(f"{name.replace('_', ' ')} {short_id(str(value))}" for name, value in plain.items())
    return f" ({told})" if told else ""


def _quote_reason(data: dict[str, Any]) -> str:
    return f": {data['reason']}" if data.get("reason") else f": {data['note']}" if data.get("note") else ""


def _quote_seen(words: object) -> str:
    return f": {between_marks(str(words))}" if words else ""
