"""Stored events in words for people, as the dashboard's feed tells them; `--json` has all that they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acud.base.ids import short_id
from acud.base.untrusted_text import between_marks
from acud.protocol.events import Event
from acud_cli.formatting import local_time, milliseconds

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


def event_words(event: Event) -> str:
    """Return what happened, in a sentence; words of a screen come last and between quotation marks."""
    noun, _, verb = event.topic.partition(".")
    tell = _TELLERS.get(noun)
    return tell(verb, event, event.data) if tell is not None else _plain(event)


def _wait(verb: str, event: Event, data: dict[str, Any]) -> str:
    condition = f" ({data['condition']})" if data.get("condition") else ""
    where = f" on {data['display']}" if data.get("display") else ""
    answer = f" {data['answer']}" if verb == "judged" and data.get("answer") else ""
    judge = f" by {data['judge']}" if verb == "judged" and data.get("judge") else ""
    took = f" in {milliseconds(data['latency_ms'])}" if verb == "judged" and data.get("latency_ms") else ""
    seen = data.get("detail") or data.get("text") or data.get("note") or data.get("reason")
    return (
        f"wait {short_id(event.subject)}{condition}{where} {_WAITS.get(verb, verb)}{answer}{judge}{took}{_seen(seen)}"
    )


def _task(verb: str, event: Event, data: dict[str, Any]) -> str:
    name = f" {between_marks(str(data['name']))}" if data.get("name") else ""
    does = _TASKS.get(verb, verb)
    if verb == "updated":
        does = _changed(data) or does
    elif verb == "ended" and data.get("status"):
        does = f"is {data['status']}"
    where = f" on {data['display']}" if data.get("display") and verb == "registered" else ""
    return f"task {short_id(event.subject)}{name} {does}{where}"


def _changed(data: dict[str, Any]) -> str:
    if data.get("status") and data.get("item") is not None:
        return f"has item {data['item']} {data['status']}"
    if data.get("status"):
        return f"is {data['status']}"
    return f"has {data['appended']} more items" if data.get("appended") else ""


def _wake(verb: str, event: Event, data: dict[str, Any]) -> str:
    of = f" of wait {short_id(str(data['wait_id']))}" if data.get("wait_id") else ""
    of += f" ({data['tells']})" if data.get("tells") else ""
    way = f" over {data['sent_by']}" if data.get("sent_by") else ""
    return f"wake {short_id(event.subject)}{of} {_WAKES.get(verb, verb)}{way}{_why(data)}"


def _display(verb: str, event: Event, data: dict[str, Any]) -> str:
    who = f" by {data['who']}" if data.get("who") else ""
    until = f" until {local_time(data['until_utc_s'])[:8]}" if data.get("until_utc_s") else ""
    return f"display {short_id(event.subject)} {_DISPLAYS.get(verb, verb)}{who}{until}{_why(data)}"


def _child(verb: str, event: Event, data: dict[str, Any]) -> str:
    name = " ".join(map(short_id, event.subject.split()))
    return f"process {name} {_CHILDREN.get(verb, verb)}{_why(data)}"


def _recording(verb: str, event: Event, data: dict[str, Any]) -> str:
    where = f" on {data['display']}" if data.get("display") else ""
    return f"recording {short_id(event.subject)} {_RECORDINGS.get(verb, verb)}{where}{_why(data)}"


def _judge(_verb: str, _event: Event, data: dict[str, Any]) -> str:
    return f"judges: {', '.join(f'{name} {state}' for name, state in data.items())}"


def _daemon(verb: str, _event: Event, data: dict[str, Any]) -> str:
    return f"the daemon: {verb.replace('_', ' ')}{_facts(data)}"


_TELLERS: dict[str, Callable[[str, Event, dict[str, Any]], str]] = {
    "wait": _wait,
    "task": _task,
    "wake": _wake,
    "display": _display,
    "child": _child,
    "recording": _recording,
    "judge": _judge,
    "daemon": _daemon,
}


def _plain(event: Event) -> str:
    return f"{event.topic.replace('.', ' ')}: {short_id(event.subject)}{_facts(event.data)}"


def _facts(data: dict[str, Any]) -> str:
    """Return what an event without words of its own holds."""
    plain = {
        name: value
        for name, value in data.items()
        if isinstance(value, str | int | float) and value != "" and name not in _FOR_PROGRAMS
    }
    told = ", ".join(f"{name.replace('_', ' ')} {short_id(str(value))}" for name, value in plain.items())
    return f" ({told})" if told else ""


def _why(data: dict[str, Any]) -> str:
    return f": {data['reason']}" if data.get("reason") else f": {data['note']}" if data.get("note") else ""


def _seen(words: object) -> str:
    return f": {between_marks(str(words))}" if words else ""
