"""The streams in which events and wakes outlive the host that made them."""

from __future__ import annotations

import nats.js.errors
from msgspec import Struct
from nats.js.api import StreamConfig

from acud import log
from acud.jetstream.connection import Connection
from acud.jetstream.naming import Names

_LOG = log.logger("fleet")
_DAY_S = 86_400.0
PUBLISH_S = 3.0
"""Who has no acknowledgement by then publishes again: it is dropped where the first did arrive."""
KEPT_S = 7 * _DAY_S
"""How long the streams hold a message, taken or not: a week's absence of an agent, or of who reads events."""
TWICE_S = _DAY_S
"""For how long the servers know a message's id again: as long as the outbox tries a wake (`[wake] retry_for_s`)."""


class Stream(Struct, frozen=True):
    """One stream: its name, and the subjects that it keeps."""

    name: str
    subjects: tuple[str, ...]


def events(names: Names) -> Stream:
    """The stream of every host's stored events."""
    return Stream(names.stream("EVENTS"), (names.event("*", ">"),))


def wakes(names: Names) -> Stream:
    """The stream of wakes, and of the word that they were seen."""
    return Stream(names.stream("WAKES"), (names.wake("*"), names.seen("*")))


async def ensure(connection: Connection, stream: Stream) -> str:
    """Make `stream` where there is none, and keep it on as many servers as `[fleet] replicas` says; return its name.

    Raises: Unavailable when no server answers, or there are too few of them.
    """
    with connection.translated(f"stream {stream.name}"):
        try:
            found = await connection.streams.stream_info(stream.name)
        except nats.js.errors.NotFoundError:
            await connection.streams.add_stream(_config(stream, connection.settings.replicas))
            return stream.name
        if (found.config.num_replicas or 1) < connection.settings.replicas:
            await connection.streams.update_stream(_config(stream, connection.settings.replicas))
            _LOG.info("fleet.stream_spread", stream=stream.name, replicas=connection.settings.replicas)
    return stream.name


def _config(stream: Stream, replicas: int) -> StreamConfig:
    return StreamConfig(
        name=stream.name,
        subjects=list(stream.subjects),
        max_age=KEPT_S,
        duplicate_window=TWICE_S,
        num_replicas=replicas,
    )
