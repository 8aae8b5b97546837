"""The streams in which events and wakes outlive the host that made them."""

from __future__ import annotations

import nats.js.errors
from nats.js.api import StreamConfig

from acud.jetstream.connection import Connection
from acud.jetstream.naming import Names
from acud.jetstream.settled import told_apart

_DAY_S = 86_400.0
PUBLISH_S = 3.0
"""Who has no acknowledgement by then publishes again: it is dropped where the first did arrive."""
KEPT_S = 7 * _DAY_S
"""How long the streams hold a message, taken or not: a week's absence of an agent, or of who reads events."""
TWICE_S = _DAY_S
"""For how long the servers know a message's id again: as long as the outbox tries a wake (`[wake] retry_for_s`)."""


def events(names: Names) -> StreamConfig:
    """The stream of every host's stored events. Each host reads its own newest by their subject, which servers can
    permit; a message's number they can't.
    """
    return _config(names.stream("EVENTS"), names.event("*", ">"))


def wakes(names: Names) -> StreamConfig:
    """The stream of wakes, and of the word that they were seen."""
    return _config(names.stream("WAKES"), names.wake("*"), names.seen("*"))


async def ensure(connection: Connection, wanted: StreamConfig) -> str:
    """Make the stream where there is none, on as many servers as `[fleet] replicas` says; return its name. One that is
    there stays as it is: what differs is told, and is the administrator's to change.

    Raises: Unavailable when no server answers, or there are too few of them.
    """
    name = str(wanted.name)
    wanted = wanted.evolve(num_replicas=connection.settings.replicas)
    with connection.translated(f"stream {name}"):
        try:
            found = await connection.streams.stream_info(name)
        except nats.js.errors.NotFoundError:
            found = await connection.streams.add_stream(wanted)
    connection.compared(name, told_apart(found.config, wanted))
    return name


def _config(name: str, *subjects: str) -> StreamConfig:
    return StreamConfig(name=name, subjects=list(subjects), max_age=KEPT_S, duplicate_window=TWICE_S, allow_direct=True)
