"""The streams in which events and wakes outlive the host that made them, and the buckets (key-value stores) of a fleet.

Only the administrator makes and changes them (`initialisation`): a user that may change a stream can redirect or empty
it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import nats.errors
import nats.js.errors
from msgspec import Struct
from nats.js.api import DiscardPolicy, Header, RawStreamMsg, StreamConfig
from nats.js.kv import KV_OP, KeyValue

from acud.base import log
from acud.base.errors import AcudError, Unavailable
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import ENDPOINT, LOST, FleetNames
from acud.features.fleet.signatures import Identity, Signed

_DAY_S = 86_400.0
PUBLISH_S = 3.0
"""After so long without an acknowledgement a message is published again: the repeat is dropped if the first did
arrive.
"""
KEPT_S = 7 * _DAY_S
"""How long the streams hold a message, taken or not: a week's absence of an agent, or of a reader of events."""
TWICE_S = _DAY_S
"""For how long the servers remember a message's id: as long as the outbox tries a wake (`[wake] retry_for_s`)."""
PLACES_KEPT_S = 7 * 86_400.0
"""As long as the longest wait may last; a host writes all that lives at each start."""
_ELECTION_S = 8.0
"""A new leader was found after 5.25 s (measured)."""
_AGAIN_S = 0.25
_ANSWER_S = 2.5
"""What is not answered by then is asked anew, of whichever server is connected then."""
_SHARES = {"EVENTS": 0.4, "WAKES": 0.3, "places": 0.25}
"""Of `[fleet] max_gb`. Of a wait that ended, 1.9, 1.1 and 1.1 kB are held there (docs/scaling.md, Disk); wakes have
more, because theirs are refused when it is full.
"""
_SMALL_SHARE = 0.01
"""Of each bucket that holds something for each host."""
_NEARLY = 0.8
_LOOK_S = 60.0
_OTHER_REVISION = (10071, 10164)
"""nats-server's errors of a write over another revision than it names (server/errors.json, JSStreamWrongLast…)."""
_LOG = log.logger("fleet")
_AT_ONCE = 64
"""Reads under way together."""

Found = TypeVar("Found")


def max_bytes(name: str, settings: FleetSettings) -> int:
    """Return the most that the stream (`EVENTS`, `WAKES`) or bucket `name` may hold."""
    return int(settings.max_gb * 1e9 * _SHARES.get(name, _SMALL_SHARE))


async def watch_room(connection: NatsConnection) -> None:
    """Report repeatedly, until cancelled, which streams are nearly full."""
    while True:
        try:
            await warn_of_full_streams(connection)
        except Unavailable as fault:
            _LOG.info("fleet.room_unknown", fault=fault.message)
        await asyncio.sleep(_LOOK_S)


async def warn_of_full_streams(connection: NatsConnection) -> None:
    """Warn of each stream that is nearly full, before anything is lost or refused. Raises: Unavailable."""
    names = connection.names
    told = {
        names.stream("EVENTS"): "its oldest events go before their time",
        names.stream("WAKES"): "it takes no more wakes; they wait in their hosts' outboxes",
        f"KV_{names.bucket('places')}": "the fleet forgets first where its oldest objects are",
    }
    for name, what in told.items():
        with connection.translate_faults(f"stream {name}"):
            found = await connection.streams.stream_info(name)
        held, most = found.state.bytes, found.config.max_bytes or 0
        is_full = most > 0 and held >= _NEARLY * most
        text = f"{name} holds {held / 1e9:.3g} of {most / 1e9:.3g} GB; when it is full, {what}"
        connection.warn(f"room {name}", text if is_full else "", "raise [fleet] max_gb where acud fleet init is run")


def events(names: FleetNames) -> StreamConfig:
    """Return the stream of every host's stored events. A host finds its own newest by subject, which servers can
    permit; by message number they can't.
    """
    return _stream_config(names.stream("EVENTS"), names.event("*", ">"))


def wakes(names: FleetNames) -> StreamConfig:
    """The stream of wakes, and of messages that they were seen. When full it refuses new ones: the outbox keeps those,
    tries the other routes and reports it, while a wake dropped from here would be lost silently.
    """
    config = _stream_config(names.stream("WAKES"), names.wake("*", "*"), names.acknowledgement("*", "*"))
    return config.evolve(discard=DiscardPolicy.NEW)


def _stream_config(name: str, *subjects: str) -> StreamConfig:
    return StreamConfig(name=name, subjects=list(subjects), max_age=KEPT_S, duplicate_window=TWICE_S, allow_direct=True)


class BucketEntry(Struct, frozen=True):
    """The value under a key (`found`), signed or not; `revision`: for a later `swap`. `fault`: why its signature is not
    valid.
    """

    key: str
    found: bytes
    revision: int
    fault: Unavailable | None = None

    @property
    def value(self) -> bytes:
        """The value. Raises: Unavailable, `reason` is `unproven`, without a valid signature."""
        if self.fault is not None:
            raise self.fault
        return self.found


class Bucket:
    """The bucket `name` of a fleet, whose keys last `ttl_s` (0: for ever). What is written is signed, what is read is
    checked. Every method raises Unavailable when the servers do not answer.
    """

    def __init__(self, connection: NatsConnection, name: str, *, ttl_s: float = 0.0) -> None:
        self._connection = connection
        self._name = name
        self._ttl_s = ttl_s
        self._found: KeyValue | None = None

    async def _find_bucket(self) -> KeyValue:
        if not self._connection.connected:
            raise self._connection.down()
        if self._found is None:
            with self._connection.translate_faults(f"bucket {self._name}"):
                self._found = await _ask_repeatedly(lambda: self._connection.bucket(self._name, ttl_s=self._ttl_s))
        return self._found

    @contextlib.contextmanager
    def _translate_faults(self, what: str) -> Iterator[None]:
        """Turn faults into acud's. The bucket is looked for again after one: it may have gone with a server's disk."""
        try:
            with self._connection.translate_faults(what):
                yield
        except Unavailable:
            self._found = None
            raise

    async def get(self, key: str) -> BucketEntry | None:
        """Return what stands under `key`, None for nothing."""
        found = await self._read_entry(key)
        if found is None or KV_OP in (found.headers or {}):
            return None
        data, signatures = found.data or b"", self._connection.signatures
        sender, also = _list_writers(self._name, key)
        fault: Unavailable | None = None
        try:
            await signatures.check(Signed.ENTRY, self._subject_of(key), data, found.headers, sender, also=also)
        except AcudError as refused:
            if refused.facts.get("reason") == "keys_unread":
                raise
            fault = Unavailable(refused.message, hint=refused.hint, reason="unproven")
        return BucketEntry(key, data, found.seq or 0, fault)

    async def _read_entry(self, key: str) -> RawStreamMsg | None:
        await self._find_bucket()
        stream, subject = f"KV_{self._connection.names.bucket(self._name)}", self._subject_of(key)
        with self._translate_faults(f"reading {self._name}/{key}"):
            try:
                return await _ask_repeatedly(
                    lambda: self._connection.streams.get_last_msg(stream, subject, direct=True)
                )
            except nats.js.errors.NotFoundError:
                return None

    async def put(self, key: str, value: bytes) -> None:
        """Write `value` under `key`, whatever stands there."""
        await self._find_bucket()
        with self._translate_faults(f"writing {self._name}/{key}"):
            await _ask_repeatedly(lambda: self._write_entry(key, value, {}))

    async def swap(self, key: str, value: bytes, revision: int) -> bool:
        """Write `value` if what stands there still has `revision` (0: nothing stands there); False when it has not."""
        await self._find_bucket()
        if await self._swap_entry(key, value, revision):
            return True
        if revision:
            return False
        mark = await self._read_entry(key)  # of one that was removed; it may be a copy that is behind
        if mark is None or KV_OP not in (mark.headers or {}):
            return False
        return await self._swap_entry(key, value, mark.seq or 0)

    async def _swap_entry(self, key: str, value: bytes, revision: int) -> bool:
        expected = {Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(revision)}
        with self._translate_faults(f"writing {self._name}/{key}"):
            try:
                await _write_patiently(lambda: self._write_entry(key, value, expected))
            except nats.js.errors.APIError as fault:
                if fault.err_code not in _OTHER_REVISION:
                    raise
                return False
        return True

    async def _write_entry(self, key: str, value: bytes, headers: dict[str, str]) -> None:
        subject = self._subject_of(key)
        headers = headers | self._connection.signatures.header(Signed.ENTRY, subject, value)
        await self._connection.streams.publish(subject, value, headers=headers or None)

    def _subject_of(self, key: str) -> str:
        return f"$KV.{self._connection.names.bucket(self._name)}.{key}"  # ADR-8 of NATS: where a bucket's keys are

    async def remove(self, key: str) -> None:
        """Remove `key`; harmless without an entry."""
        bucket = await self._find_bucket()
        with self._translate_faults(f"removing {self._name}/{key}"):
            await _ask_repeatedly(lambda: bucket.purge(key))

    async def keys(self, pattern: str = ">") -> list[str]:
        """Return every key that matches `pattern` (`*`: one token; `>`: the rest), also of some that were removed.

        The stream's leader lists them, not a consumer: one that is made while a server of the cluster is down may be
        placed on that server, and is silent then.
        """
        await self._find_bucket()
        with self._translate_faults(f"reading {self._name}"):
            stream, subjects = f"KV_{self._connection.names.bucket(self._name)}", self._subject_of(pattern)
            info = await _ask_repeatedly(lambda: self._connection.streams.stream_info(stream, subjects_filter=subjects))
        before = len(self._subject_of(""))
        return sorted(subject[before:] for subject in info.state.subjects or {})

    async def entries(self, pattern: str = ">") -> list[BucketEntry]:
        """Return every entry whose key matches `pattern` as it is now, signed or not."""
        return await self.get_all(await self.keys(pattern))

    async def get_all(self, keys: list[str]) -> list[BucketEntry]:
        """Return the entry under each of `keys`, signed or not."""
        found: list[BucketEntry] = []
        for at in range(0, len(keys), _AT_ONCE):
            read = await asyncio.gather(*(self.get(key) for key in keys[at : at + _AT_ONCE]))
            found += [entry for entry in read if entry is not None]
        return found


async def _ask_repeatedly(ask: Callable[[], Awaitable[Found]]) -> Found:
    """Ask again where no answer comes: the question went to a server that died, or there is no leader right now. A host
    that waited longer for the answer to a lost write would be called lost once the others answer again.
    """
    end_s = time.monotonic() + _ELECTION_S
    while True:
        try:
            async with asyncio.timeout(_ANSWER_S):
                return await ask()
        except (
            TimeoutError,
            nats.errors.NoRespondersError,
            nats.js.errors.NoStreamResponseError,
            nats.js.errors.ServiceUnavailableError,
        ):
            if time.monotonic() >= end_s:
                raise
            await asyncio.sleep(_AGAIN_S)


async def _write_patiently(write: Callable[[], Awaitable[object]]) -> None:
    """Write what must not be written twice again while the stream has no leader: nothing was stored then."""
    end_s = time.monotonic() + _ELECTION_S
    while True:
        try:
            await write()
        except nats.js.errors.NoStreamResponseError:
            if time.monotonic() >= end_s:
                raise
            await asyncio.sleep(_AGAIN_S)
        else:
            return


def _list_writers(bucket: str, key: str) -> tuple[Identity, Identity | None]:
    """Return the users whose signatures count under a key: the host that it begins with, an endpoint, or both."""
    first, _, rest = key.partition(".")
    if bucket == "drains" or first == ENDPOINT or rest.startswith(f"{LOST}."):
        return Identity("endpoint"), None
    return Identity("host", first), None if bucket == "members" else Identity("endpoint")
