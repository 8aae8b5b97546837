"""The fleet's stream of wakes: how long until it has acknowledged one, and how many a reader takes in a second; kept on
one server, and on three; and how much longer a host takes to bring other hosts' wakes on than its own;
and what the servers are written for one wait.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol.delivery import Deliver
from acud.types import RouteName, WakeKind
from acud_fleet.host_wakes import WakePublisher
from acud_fleet.wakes import AgentWakes
from tests.bench import _fleet_carry, _fleet_writes
from tests.fixtures.fleet_servers import FleetServers, nothing_told

_WAKES = 500
_TEXT = "[smart_wait resolved] Job wait-01jd: the download has finished → the bar is full. Next: wait_result"


def run() -> dict[str, Any]:
    found = {"wakes": _WAKES, **asyncio.run(_measured(1)), **asyncio.run(_measured(3))}
    return found | _fleet_carry.measured() | _fleet_writes.measured()


async def _measured(replicas: int) -> dict[str, float]:
    with FleetServers(replicas) as nats:
        async with NatsConnection(FleetSettings(url=nats.url, replicas=replicas), "bench") as connection:  # type: ignore[arg-type]
            await connection.ready()
            sent_ms = await _sent(WakePublisher("bench", connection, nothing_told))
            taken_s = await _taken(connection)
    name = f"r{replicas}"
    return {
        f"{name}_sent_p50_ms": sent_ms[_WAKES // 2],
        f"{name}_sent_p99_ms": sent_ms[_WAKES * 99 // 100],
        f"{name}_taken_per_s": round(_WAKES / taken_s),
    }


async def _sent(publisher: WakePublisher) -> list[float]:
    """Publish one after the other and return the milliseconds of each, sorted. A first one has the stream made."""
    while (await publisher.publish_wake(_delivery("wake-first"))).result != "sent":  # noqa: ASYNC110 - a cluster that elects its leader
        await asyncio.sleep(0.1)
    return sorted([(await publisher.publish_wake(_delivery(f"wake-{number}"))).ms for number in range(_WAKES)])


async def _taken(connection: NatsConnection) -> float:
    async with AgentWakes(connection) as wakes:
        began = time.monotonic()
        for _ in range(_WAKES):
            taken = await wakes.next(30)
            if taken is None:
                raise RuntimeError("a wake did not come")
            await taken.ack()
        return time.monotonic() - began


def _delivery(wake_id: str) -> Deliver:
    return Deliver(wake_id, 1, RouteName.FLEET, WakeKind.RESOLVED, _TEXT, 1.0)


def table(figures: dict[str, Any]) -> str:
    lines = [f"{figures['wakes']} wakes, one after the other, each taken with its word that it was seen"]
    for name, words in (("r1", "one server"), ("r3", "three servers")):
        p50, p99 = figures[f"{name}_sent_p50_ms"], figures[f"{name}_sent_p99_ms"]
        lines.append(f"  {words}: sent p50 {p50} ms, p99 {p99} ms; taken {figures[f'{name}_taken_per_s']} a second")
    alone_s, carried_s, times = (figures[name] for name in ("webhook_1000_s", "carry_1000_s", "carry_1000_x"))
    lines.append(f"  {_fleet_carry.WAKES} at once by webhook {alone_s} s; carried over it {carried_s} s: {times} x")
    lines.append(
        f"  a wait: {figures['writes_per_wait']} writes of where it is; {figures['bytes_per_wait']} bytes in all"
    )
    return "\n".join(lines)
