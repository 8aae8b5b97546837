"""What a wait takes on the disk of a nats-server: the messages of real waits, written again under other ids many times.

What a stream says of itself counts neither what its blocks hold that nobody can read any more, nor what is compressed.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import struct
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from nats.aio.msg import Msg

from acud.base import ids
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import SIGNATURE
from acud.types import WindowTitle
from acud_client import Client
from tests.fixtures.fleet_rig import Fleet
from tests.fixtures.fleet_servers import FleetServers

WAITS = 24_000
_TAKEN, _LASTS_S = 40, 1.5
_SIDE_BY_SIDE = 64
_SETTLE_S = 150.0
"""A server cleans up every two minutes (`sync_interval`)."""
_SUBJECTS = ("$KV.acud_places", "acud.event", "acud.wake", "acud.seen")
_ID = re.compile(rb"(?<=(?:wait|wake|task)-)[0-9a-z]{23}")
_MOMENT = re.compile(rb"\xcbA[\xd0-\xdf].{6}|\b1[0-9]{9}\.[0-9]+", re.DOTALL)
_EXPECTED, _MESSAGE_ID = "Nats-Expected-Last-Subject-Sequence", "Nats-Msg-Id"


class Stored(NamedTuple):
    """One copy of what a wait leaves: bytes on the disk, and bytes that the streams and buckets say they hold."""

    disk: float
    held: float


class _Message(NamedTuple):
    subject: str
    headers: dict[str, str]
    body: bytes


def bytes_of_a_wait(*, signed: bool, waits: int = WAITS) -> Stored:
    """Return what a wait takes that an agent arms over the endpoint, and whose end wakes it. `signed`: each message
    carries a signature. Takes about five minutes.
    """
    with Fleet({"h1": ""}, more='[wake]\nroutes = ["fleet"]\n') as fleet:
        kinds = asyncio.run(_taken(fleet))
    with FleetServers() as servers:
        return asyncio.run(_written(servers, kinds, signed, waits))


async def _taken(fleet: Fleet) -> list[list[_Message]]:
    heard: dict[bytes, list[_Message]] = {}

    async def note(message: Msg) -> None:
        found = _ID.search(message.data) or _ID.search(message.subject.encode())
        if found is not None:
            one = _Message(message.subject, dict(message.headers or {}), message.data)
            heard.setdefault(found[0], []).append(one)

    async with NatsConnection(FleetSettings(url=fleet.nats.url), "bench") as connection:
        await connection.ready()
        for subject in _SUBJECTS:
            await connection.nats.subscribe(f"{subject}.>", cb=note)
        display = (await asyncio.to_thread(lambda: fleet.client.display_create(64, 64))).display.name
        await asyncio.to_thread(_arm, fleet.client, display)
        while not all(any(".wake." in one.subject for one in each) for each in heard.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await asyncio.sleep(2)
    return list(heard.values())


def _arm(client: Client, display: str) -> None:
    never = WindowTitle("there is no such window")
    waits = [client.wait_create(never, display=display, timeout_s=_LASTS_S).wait.wait_id for _ in range(_TAKEN)]
    for wait in waits:
        client.wait_result(wait, block_s=30, peek=True)


async def _written(servers: FleetServers, kinds: list[list[_Message]], signed: bool, waits: int) -> Stored:
    async with NatsConnection(FleetSettings(url=servers.url), "bench") as connection:
        await connection.ready()
        left, numbers, records = iter(range(waits)), iter(range(1, 1 << 40)), Counter[str]()
        writing = (_write(connection, kinds, signed, left, numbers, records) for _ in range(_SIDE_BY_SIDE))
        await asyncio.gather(*writing)
        await asyncio.sleep(_SETTLE_S if waits >= WAITS else 0)
        found = {name: (await connection.streams.stream_info(name)).state.bytes for name in records}
    folders = {one.name: one for one in servers.servers[0].store.glob("jetstream/*/streams/*")}
    disk = sum(_disk(folders[name], count) for name, count in records.items())
    return Stored(disk / waits, sum(found.values()) / waits)


def _disk(folder: Path, records: int) -> float:
    """Return what a stream takes whose blocks are closed: the newest one is compressed, and cleaned up, only when it is
    full. `records`: bytes of all that was ever written.
    """
    sizes = {file: file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file()}
    *closed, newest = sorted(folder.glob("msgs/*.blk"), key=lambda file: int(file.stem))
    if not closed:  # too few waits to tell
        return float(sum(sizes.values()))
    return (sum(sizes.values()) - sizes[newest]) / (1 - newest.stat().st_size / records)


async def _write(
    connection: NatsConnection,
    kinds: list[list[_Message]],
    signed: bool,
    left: Iterator[int],
    numbers: Iterator[int],
    records: Counter[str],
) -> None:
    for number in left:
        fresh, later = ids.new_id("wait")[5:].encode(), partial(_later, seconds=time.time() - 1.75e9)
        newest: dict[str, int] = {}
        for one in kinds[number % len(kinds)]:
            subject = _ID.sub(fresh, one.subject.encode()).decode()
            body = _MOMENT.sub(later, _ID.sub(fresh, one.body))
            headers = {name: _ID.sub(fresh, value.encode()).decode() for name, value in one.headers.items()}
            if subject.startswith("acud.event."):
                body, headers[_MESSAGE_ID] = _numbered(body, next(numbers), headers[_MESSAGE_ID])
            if _EXPECTED in headers:
                headers[_EXPECTED] = str(newest.get(subject, 0))
            if signed:
                headers[SIGNATURE] = base64.urlsafe_b64encode(os.urandom(79)).decode().rstrip("=")
            stored = await connection.streams.publish(subject, body, headers=headers or None)
            newest[subject] = stored.seq
            records[stored.stream] += _record(subject, headers, body)


def _later(found: re.Match[bytes], seconds: float) -> bytes:
    """Return another time in the form of the one that was found, of msgpack or of JSON."""
    moment = found[0]
    if moment[0] == 0xCB:
        return b"\xcb" + struct.pack(">d", struct.unpack(">d", moment[1:])[0] + seconds + os.urandom(1)[0] / 1000)
    return f"{float(moment) + seconds:.{len(moment) - 11}f}".encode()


def _numbered(body: bytes, n: int, identity: str) -> tuple[bytes, str]:
    event = msgspec.msgpack.decode(body)
    return msgspec.msgpack.encode(event | {"n": n, "prev": n - 3}), f"{identity.rpartition(':')[0]}:{n}"


def _record(subject: str, headers: dict[str, str], body: bytes) -> int:
    """Return the bytes of a message in a block before it is compressed (nats-server, fileStoreMsgSize)."""
    lines = sum(len(name) + len(value) + 4 for name, value in headers.items())
    return 30 + len(subject) + len(body) + (4 + 12 + lines if headers else 0)
