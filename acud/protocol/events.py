"""Messages of the supervisor on the `events` socket: stored events, and beats.

Each message has two parts: the topic (`wait.resolved`), then the encoded `Event` or `Beat`. A subscriber that sees a
`prev` it does not know has missed events of that topic, and asks `events_since`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

TOPICS = (
    "daemon.started",
    "daemon.stopping",
    "store.damaged",
    "display.up",
    "display.down",
    "display.ended",
    "display.geometry",
    "display.launched",
    "display.limited",
    "display.notified",
    "display.taken",
    "display.released",
    "child.restarted",
    "child.failed",
    "wait.created",
    "wait.updated",
    "wait.judged",
    "wait.note",
    "wait.stage",
    "wait.resolved",
    "wait.timeout",
    "wait.cancelled",
    "wait.failed",
    "wake.sent",
    "wake.seen",
    "wake.undelivered",
    "scene.updated",
    "live.frame",
    "live.lost",
    "judge.changed",
    "task.registered",
    "task.updated",
    "task.ended",
    "task.deleted",
    "task.stuck",
    "analysis.result",
    "recording.started",
    "recording.ended",
    "recording.deleted",
    "web.revoked",
    "fleet.joined",
    "fleet.lost",
    "fleet.back",
    "fleet.left",
    "beat",
)


class Event(Struct, frozen=True, tag="event", forbid_unknown_fields=True):
    """`n`: its number, rising without reuse. `prev`: the number of the event before it on this topic (0: none kept).

    One with `n` 0 (`scene.updated`, `live.frame`, `live.lost`) is published and never stored: the next one makes up for
    a missed one.
    """

    n: int
    prev: int
    topic: str
    utc_s: float
    subject: str
    """The wait id, task id, display name, child name or access token id it is about."""
    data: dict[str, Any]


class Beat(Struct, frozen=True, tag="beat", forbid_unknown_fields=True):
    """Every 5 s on topic `beat`: the newest event number, so that silence is not mistaken for loss."""

    n: int
    utc_s: float


Told = Event | Beat
