"""Where the objects of the fleet live: tasks, waits, displays, recordings, runs, and requests that found a place."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Literal

import msgspec

from acud.errors import InvalidRequest
from acud.jetstream.connection import Connection
from acud.jetstream.naming import key_of
from acud.protocol import codec
from acud.protocol.fleet import Place
from acud_fleet.buckets import Bucket

Kind = Literal["task", "wait", "display", "recording", "run", "request"]
KEPT_S = 7 * 86_400.0
"""As long as the longest wait may last; a host tells of what lives anew at each start."""
_REMEMBERED = 20_000


class Places:
    """The bucket `places`: key `<host>.<kind>.<id>`, so that one host's are found together. Remembers what it saw."""

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

    async def one(self, host: str, kind: Kind, name: str) -> Place | None:
        """Return what was told of `name`, None for nothing."""
        entry = await self._bucket.get(_key(host, kind, name))
        return None if entry is None else _place(entry.value)


def _key(host: str, kind: Kind, name: str) -> str:
    return f"{host}.{kind}.{key_of(name)}"


def _place(data: bytes) -> Place | None:
    try:
        return codec.decode(data, Place)
    except InvalidRequest:
        return None
