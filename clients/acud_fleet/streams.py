"""The streams in which events and wakes outlive the host that made them: made by hosts, set right by an administrator.

Hosts make what is missing and change nothing: who may change a stream may have it sent elsewhere, or emptied. The
administrator of the servers does it with a key of his own (`look`).
"""

from __future__ import annotations

from typing import Literal

import nats.js.errors
from msgspec import Struct
from nats.js.api import StreamConfig

from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import FleetNames, bucket_stream, differences, with_wanted_settings
from acud.fleet import FleetSettings
from acud_fleet.places import PLACES_KEPT_S

_DAY_S = 86_400.0
PUBLISH_S = 3.0
"""Who has no acknowledgement by then publishes again: it is dropped where the first did arrive."""
KEPT_S = 7 * _DAY_S
"""How long the streams hold a message, taken or not: a week's absence of an agent, or of who reads events."""
TWICE_S = _DAY_S
"""For how long the servers know a message's id again: as long as the outbox tries a wake (`[wake] retry_for_s`)."""


def events(names: FleetNames) -> StreamConfig:
    """The stream of every host's stored events. Each host reads its own newest by their subject, which servers can
    permit; a message's number they can't.
    """
    return _config(names.stream("EVENTS"), names.event("*", ">"))


def wakes(names: FleetNames) -> StreamConfig:
    """The stream of wakes, and of the word that they were seen."""
    return _config(names.stream("WAKES"), names.wake("*"), names.seen("*"))


async def ensure(connection: NatsConnection, wanted: StreamConfig) -> str:
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
    connection.compared(name, differences(found.config, wanted))
    return name


class StreamState(Struct, frozen=True):
    """A stream (`KV_…`: a bucket) on the servers. `differs`: where it is not as hosts want it, in words."""

    name: str
    state: Literal["well", "different", "missing", "made", "changed"]
    differs: str = ""


def wanted(connection: NatsConnection) -> list[StreamConfig]:
    """Return every stream and bucket of a fleet but that of jobs, whose limits are each asker's own settings."""
    names, lease_s = connection.names, connection.settings.lease_s
    lasting = {"hosts": lease_s, "members": 0.0, "drains": 0.0, "places": PLACES_KEPT_S}
    found = [events(names), wakes(names)]
    found += [bucket_stream(names, name, ttl_s) for name, ttl_s in lasting.items()]
    return [one.evolve(num_replicas=connection.settings.replicas) for one in found]


async def look(settings: FleetSettings, *, change: bool) -> list[StreamState]:
    """Return how each stream stands; with `change` make what is missing and set right what differs.

    Raises: Unavailable when no server answers, or this key may not do that; ConfigError.
    """
    async with NatsConnection(settings, "acud fleet streams", inbox="admin") as connection:
        await connection.ready()
        return [await _looked(connection, one, change) for one in wanted(connection)]


def _config(name: str, *subjects: str) -> StreamConfig:
    return StreamConfig(name=name, subjects=list(subjects), max_age=KEPT_S, duplicate_window=TWICE_S, allow_direct=True)


async def _looked(connection: NatsConnection, wanted: StreamConfig, change: bool) -> StreamState:
    name = str(wanted.name)
    with connection.translated(f"stream {name}"):
        try:
            found = (await connection.streams.stream_info(name)).config
        except nats.js.errors.NotFoundError:
            if change:
                await connection.streams.add_stream(wanted)
            return StreamState(name, "made" if change else "missing")
        differs = differences(found, wanted)
        if not differs:
            return StreamState(name, "well")
        if change:
            await connection.streams.update_stream(with_wanted_settings(found, wanted))
        return StreamState(name, "changed" if change else "different", differs)
