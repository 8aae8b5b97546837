"""One bucket: read as it stands, written, and compared; opened again after the servers were away."""

from __future__ import annotations

import asyncio

import msgspec
import nats.js.errors
from nats.js.kv import KeyValue

from acud.jetstream.connection import Connection

_SNAPSHOT_S = 10.0


class Entry(msgspec.Struct, frozen=True):
    """A key with its value; `revision` is what a later `swap` compares."""

    key: str
    value: bytes
    revision: int


class Bucket:
    """The bucket `name` of a fleet, whose keys last `ttl_s` (0: for ever). Every method raises Unavailable when the
    servers do not answer.
    """

    def __init__(self, connection: Connection, name: str, *, ttl_s: float = 0.0) -> None:
        self._connection = connection
        self._name = name
        self._ttl_s = ttl_s
        self._found: KeyValue | None = None

    async def _open(self) -> KeyValue:
        if not self._connection.connected:
            raise self._connection.down()
        if self._found is None:
            self._found = await self._connection.bucket(self._name, ttl_s=self._ttl_s)
        return self._found

    async def get(self, key: str) -> Entry | None:
        """Return what stands under `key`, None for nothing."""
        bucket = await self._open()
        with self._connection.translated(f"reading {self._name}/{key}"):
            try:
                found = await bucket.get(key)
            except nats.js.errors.KeyNotFoundError:
                return None
        return Entry(key, found.value or b"", found.revision or 0)

    async def put(self, key: str, value: bytes) -> None:
        """Write `value` under `key`, whatever stands there."""
        bucket = await self._open()
        with self._connection.translated(f"writing {self._name}/{key}"):
            await bucket.put(key, value)

    async def swap(self, key: str, value: bytes, revision: int) -> bool:
        """Write `value` if what stands there still has `revision` (0: nothing stands there); False when it has not."""
        bucket = await self._open()
        with self._connection.translated(f"writing {self._name}/{key}"):
            try:
                if revision:
                    await bucket.update(key, value, last=revision)
                else:
                    await bucket.create(key, value)
            except nats.js.errors.KeyWrongLastSequenceError:
                return False
        return True

    async def remove(self, key: str) -> None:
        """Remove `key`, which may not be there."""
        bucket = await self._open()
        with self._connection.translated(f"removing {self._name}/{key}"):
            await bucket.purge(key)

    async def entries(self, pattern: str = ">") -> list[Entry]:
        """Return everything whose key matches `pattern` (`*`: one token; `>`: the rest) as it stands now."""
        bucket = await self._open()
        with self._connection.translated(f"reading {self._name}"):
            watcher = await bucket.watch(pattern, ignore_deletes=True)
            try:
                async with asyncio.timeout(_SNAPSHOT_S):
                    return await _all(watcher)
            finally:
                await watcher.stop()  # type: ignore[no-untyped-call]


async def _all(watcher: KeyValue.KeyWatcher) -> list[Entry]:
    found: list[Entry] = []
    while isinstance(entry := await watcher._updates.get(), KeyValue.Entry):  # `updates` would give up after 5 s
        found.append(Entry(entry.key, entry.value or b"", entry.revision or 0))
    return found
