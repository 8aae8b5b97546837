"""What the administrator of a fleet's servers does with a key of his own: streams and buckets set up as hosts want
them.

Hosts make what is missing and change nothing: who may change a stream may have it sent elsewhere, or emptied.
"""

from __future__ import annotations

from typing import Literal

import nats.js.errors
from msgspec import Struct
from nats.js.api import StreamConfig

from acud.fleet import FleetSettings
from acud.jetstream import settled
from acud.jetstream.connection import Connection
from acud_fleet import streams
from acud_fleet.places import KEPT_S


class StreamState(Struct, frozen=True):
    """A stream (`KV_…`: a bucket) on the servers. `differs`: where it is not as hosts want it, in words."""

    name: str
    state: Literal["well", "different", "missing", "made", "changed"]
    differs: str = ""


def wanted(connection: Connection) -> list[StreamConfig]:
    """Return every stream and bucket of a fleet but that of jobs, whose limits are each asker's own settings."""
    names, lease_s = connection.names, connection.settings.lease_s
    lasting = {"hosts": lease_s, "members": 0.0, "drains": 0.0, "places": KEPT_S}
    found = [streams.events(names), streams.wakes(names)]
    found += [settled.bucket(names, name, ttl_s) for name, ttl_s in lasting.items()]
    return [one.evolve(num_replicas=connection.settings.replicas) for one in found]


async def look(settings: FleetSettings, *, change: bool) -> list[StreamState]:
    """Return how each stream stands; with `change` make what is missing and set right what differs.

    Raises: Unavailable when no server answers, or this key may not do that; ConfigError.
    """
    async with Connection(settings, "acud fleet streams", inbox="admin") as connection:
        await connection.ready()
        return [await _looked(connection, one, change) for one in wanted(connection)]


async def _looked(connection: Connection, wanted: StreamConfig, change: bool) -> StreamState:
    name = str(wanted.name)
    with connection.translated(f"stream {name}"):
        try:
            found = (await connection.streams.stream_info(name)).config
        except nats.js.errors.NotFoundError:
            if change:
                await connection.streams.add_stream(wanted)
            return StreamState(name, "made" if change else "missing")
        differs = settled.told_apart(found, wanted)
        if not differs:
            return StreamState(name, "well")
        if change:
            await connection.streams.update_stream(settled.mended(found, wanted))
        return StreamState(name, "changed" if change else "different", differs)
