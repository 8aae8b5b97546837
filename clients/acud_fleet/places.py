"""Where the objects of the fleet live: tasks, waits, displays, recordings, runs, and requests that found a place."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import Literal

import msgspec

from acud.errors import InvalidRequest, Unavailable
from acud.jetstream.connection import Connection
from acud.jetstream.naming import key_of
from acud.protocol import codec
from acud.protocol.fleet import Place
from acud_fleet.buckets import Bucket

Kind = Literal["task", "wait", "display", "recording", "run"]
KEPT_S = 7 * 86_400.0
"""As long as the longest wait may last; a host tells of what lives anew at each start."""
_REMEMBERED = 20_000
_TRIES = 40
_AGAIN_S = 0.05
"""A copy of the bucket may be read that is behind its leader."""


class Assigned(msgspec.Struct, frozen=True):
    """The host that a starting request goes to, "" for none yet. `revision`: what the next assignment replaces."""

    host: str = ""
    revision: int = 0


class Places:
    """The bucket `places`: key `<host>.<kind>.<id>`, so that one host's are found together, and `_.request.<id>` for a
    request, whose host is chosen once. Remembers what it saw.
    """

    def __init__(self, connection: Connection) -> None:
        self._bucket = Bucket(connection, "places", ttl_s=KEPT_S)
        self._hosts: OrderedDict[str, str] = OrderedDict()

    async def put(self, host: str, kind: Kind, name: str, info: msgspec.Struct | None = None) -> None:
        """Write that `name` lives on `host`, and how it stands."""
        place = Place(host, kind, name, time.time(), b"" if info is None else codec.encode(info))
        await self._bucket.put(_key(host, kind, name), codec.encode(place))
        self.remember(name, host)

    async def remove(self, host: str, kind: Kind, name: str) -> None:
        """Write that `name` is no more."""
        await self._bucket.remove(_key(host, kind, name))
        self._hosts.pop(name, None)

    def remember(self, name: str, host: str) -> None:
        """Note where `name` was seen, for this process alone."""
        self._hosts[name] = host
        self._hosts.move_to_end(name)
        if len(self._hosts) > _REMEMBERED:
            self._hosts.popitem(last=False)

    async def host_of(self, kind: Kind, name: str) -> str:
        """Return the host on which `name` lives, "" when nobody told."""
        if name not in self._hosts:
            for entry in await self._bucket.entries(f"*.{kind}.{key_of(name)}"):
                self.remember(name, entry.key.partition(".")[0])
        return self._hosts.get(name, "")

    async def of(self, host: str, kind: Kind) -> list[Place]:
        """Return everything of a kind that lives on `host`."""
        return [place for entry in await self._bucket.entries(f"{host}.{kind}.*") if (place := _place(entry.value))]

    async def forget(self, host: str) -> None:
        """Remove everything of `host`."""
        for entry in await self._bucket.entries(f"{host}.>"):
            await self._bucket.remove(entry.key)
        self._hosts = OrderedDict((name, where) for name, where in self._hosts.items() if where != host)

    # ---- requests that start something ----

    async def assigned(self, request_id: str) -> Assigned:
        """Return the host that a request was assigned to by whichever endpoint came first."""
        entry = await self._bucket.get(_request_key(request_id))
        return Assigned() if entry is None else Assigned(entry.value.decode(), entry.revision)

    async def assign(self, request_id: str, host: str, at: Assigned) -> Assigned:
        """Assign a request that stands `at` to `host`, and return where it stands then: of several endpoints that do so
        at the same time one wins, and all are told its choice. Raises: Unavailable.
        """
        key = _request_key(request_id)
        for _ in range(_TRIES):
            await self._bucket.swap(key, host.encode(), at.revision)
            stands = await self.assigned(request_id)
            if stands.revision > at.revision:
                return stands
            await asyncio.sleep(_AGAIN_S)
        raise Unavailable(f"where request {request_id} goes can't be read", hint="acud fleet status")

    async def one(self, host: str, kind: Kind, name: str) -> Place | None:
        """Return what was told of `name`, None for nothing."""
        entry = await self._bucket.get(_key(host, kind, name))
        return None if entry is None else _place(entry.value)


def _key(host: str, kind: Kind, name: str) -> str:
    return f"{host}.{kind}.{key_of(name)}"


def _request_key(request_id: str) -> str:
    return f"_.request.{key_of(request_id)}"  # no host is called so


def _place(data: bytes) -> Place | None:
    try:
        return codec.decode(data, Place)
    except InvalidRequest:
        return None
