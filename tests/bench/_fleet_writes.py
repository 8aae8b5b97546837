"""What the streams and buckets of a fleet are written for one wait: how often, and how many bytes, before replicas."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from nats.aio.msg import Msg

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.types import WindowTitle
from acud_client import Client
from tests.fixtures.fleet_rig import Fleet

WAITS = 100
_LASTS_S = 1.5
_NEVER = WindowTitle("there is no such window")
_KINDS = {
    "$KV.acud_places": "places", "$KV.acud_hosts": "leases", "$KV.acud_members": "leases", "acud.event": "events",
    "acud.wake": "wakes", "acud.seen": "seen",
}  # fmt: skip
_RECORD = 30
"""Bytes of nats-server's own with each message: lengths, sequence, time and checksum (server/filestore.go)."""


def measured() -> dict[str, float]:
    """Return writes and bytes for each wait that an agent arms over the endpoint, and that ends by its deadline."""
    with Fleet({"h1": ""}, more='[wake]\nroutes = ["fleet"]\n') as fleet:
        return asyncio.run(_counted(fleet))


async def _counted(fleet: Fleet) -> dict[str, float]:
    count: Counter[str] = Counter()

    async def note(message: Msg) -> None:
        kind = _KINDS[".".join(message.subject.split(".")[:2])]
        headers = sum(len(name) + len(value) + 4 for name, value in (message.headers or {}).items())
        count[f"{kind}_writes"] += 1
        count[f"{kind}_bytes"] += len(message.subject) + headers + len(message.data) + _RECORD

    async with NatsConnection(FleetSettings(url=fleet.nats.url), "bench") as connection:
        await connection.ready()
        for subject in _KINDS:
            await connection.nats.subscribe(f"{subject}.>", cb=note)
        display = (await asyncio.to_thread(lambda: fleet.client.display_create(64, 64))).display.name
        await asyncio.sleep(2)
        before = await _stored(connection)
        count.clear()
        began_s = time.monotonic()
        await asyncio.to_thread(_arm, fleet.client, display)
        while count["wakes_writes"] < WAITS:  # noqa: ASYNC110 - other processes' doing
            await asyncio.sleep(0.1)
        await asyncio.sleep(2)
        took_s = time.monotonic() - began_s
        _leave_out(count, await _stored(connection) - before)
    leases = ("leases_writes", "leases_bytes")
    found = {f"{name}_per_wait": round(count[name] / WAITS, 2) for name in sorted(count) if name not in leases}
    kept = sum(count[f"{kind}_bytes"] for kind in ("places", "events", "wakes", "seen"))
    found |= {f"{name}_per_s": round(count[name] / took_s, 1) for name in leases}
    return {"writes_per_wait": found["places_writes_per_wait"], "bytes_per_wait": round(kept / WAITS), **found}


async def _stored(connection: NatsConnection) -> int:
    return int((await connection.streams.stream_info("KV_acud_places")).state.last_seq)


def _leave_out(count: Counter[str], stored: int) -> None:
    """Leave out what was heard and not stored: where two write the same at once, one is refused."""
    count["places_bytes"] = round(count["places_bytes"] * stored / count["places_writes"])
    count["places_writes"] = stored


def _arm(client: Client, display: str) -> None:
    waits = [client.wait_create(_NEVER, display=display, timeout_s=_LASTS_S).wait.wait_id for _ in range(WAITS)]
    for wait in waits:
        client.wait_result(wait, block_s=30, peek=True)
