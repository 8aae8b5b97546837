"""Stored events in words for people, as in the dashboard's feed; `--json` has all that they hold."""

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


def describe_event(event: Event) -> str:
    """Return what happened, in a sentence; words of a screen come last and between quotation marks."""
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
