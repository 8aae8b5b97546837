"""Hosts of a fleet for tests: daemons with a real NATS server between them, and readers of what lies in its streams."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import nats.js.errors

from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud.protocol.events import Event
from acud.types import WaitInfo, WakeInfo, WakeState, WindowTitle
from acud_client.stream import Trimmed
from acud_fleet import streams
from acud_fleet.events import ID, read
from acud_fleet.wakes import AgentWakes
from tests.e2e import faults
from tests.fixtures.daemon import Daemon
from tests.fixtures.patience import LONG_S

Found = TypeVar("Found")
HOLDS = WindowTitle("there is no such window", gone=True)
"""Resolves as soon as it is armed."""


def settings(url: str, host: str, **sections: dict[str, Any]) -> str:
    """Return the acud.toml of a host: its wakes go to the stream, and are tried again soon."""
    wake = {"routes": ["fleet"], "retry_first_s": 0.1, "retry_max_s": 1.0, **sections.pop("wake", {})}
    return faults.settings(wake=wake, fleet={"url": url, "host": host, **sections.pop("fleet", {})}, **sections)


def host(url: str, name: str, home: Path, **sections: dict[str, Any]) -> Daemon:
    """Return the daemon of a host, not started yet."""
    return Daemon(settings(url, name, **sections), home=home / name)


def resolved(daemon: Daemon) -> WaitInfo:
    """Arm a wait that holds, and return it at its end without having been seen."""
    names = [display.name for display in daemon.client.display_list().displays]
    name = names[0] if names else daemon.client.display_create(64, 64).display.name
    wait = daemon.client.wait_create(HOLDS, display=name).wait
    faults.event(daemon, "wait.resolved", wait.wait_id)
    return wait


def wake_of(daemon: Daemon, wait: WaitInfo, state: WakeState) -> WakeInfo:
    """Return the wait's one wake once it is in `state`."""

    def found() -> WakeInfo | None:
        (wake,) = daemon.client.wake_list(seen=True, wait_id=wait.wait_id).wakes
        return wake if wake.state is state else None

    return faults.until(found, f"the wake of {wait.wait_id} is {state}")


def joined(daemon: Daemon) -> None:
    """Return once the host's fleet process has reached a server."""
    faults.until(lambda: "connected" in daemon.client.status().fleet.get("state", ""), "the host is in the fleet")


def _at(servers: str | FleetSettings) -> FleetSettings:
    return FleetSettings(url=servers) if isinstance(servers, str) else servers


def over(url: str | FleetSettings, work: Callable[[NatsConnection], Awaitable[Found]]) -> Found:
    """Return what `work` returns, given a connection of its own to the servers."""

    async def run() -> Found:
        async with asyncio.timeout(LONG_S), NatsConnection(_at(url), "test") as connection:
            await connection.ready()
            return await work(connection)

    return asyncio.run(run())


def taken(url: str | FleetSettings, count: int, agent: str = "") -> list[str]:
    """Take `count` wakes of `agent` from the stream, acknowledge them, see that no more come, and return their ids."""

    async def work(connection: NatsConnection) -> list[str]:
        found: list[str] = []
        async with AgentWakes(connection, agent) as wakes:
            while len(found) < count:
                one = await wakes.next(LONG_S)
                found.append(one.wake.id)
                await one.ack()
            assert await wakes.next(1.0) is None
        return found

    return over(url, work)


def stored(url: str | FleetSettings, name: str) -> list[tuple[str, Event | Trimmed]]:
    """Return what the stream of events holds of a host, oldest first: message id and event, or gap."""

    async def work(connection: NatsConnection) -> list[tuple[str, Event | Trimmed]]:
        stream, subject = (
            await connection.find_stream(streams.events(connection.names)),
            connection.names.event(name, ">"),
        )
        last = await connection.streams.get_last_msg(stream, subject)
        told = await connection.streams.subscribe(subject, stream=stream, ordered_consumer=True)
        found, seq = [], 0
        while seq < (last.seq or 0):
            message = await told.next_msg(LONG_S)
            seq = message.metadata.sequence.stream
            found.append(((message.headers or {})[ID], read(message.data)))
        return found

    return over(url, work)


def settled(daemon: Daemon, url: str | FleetSettings, name: str = "h1") -> None:
    """Return once the stream's newest event of the host `name` is the newest that its daemon keeps."""

    async def newest(connection: NatsConnection) -> int:
        stream = await connection.find_stream(streams.events(connection.names))
        try:
            found = await connection.streams.get_last_msg(stream, connection.names.event(name, ">"))
        except nats.js.errors.NotFoundError:
            return 0
        item = read(found.data or b"")
        return item.n if isinstance(item, Event) else 0

    def is_settled() -> bool:
        return over(url, newest) == daemon.client.events_since(0, limit=1).newest

    faults.until(is_settled, "the stream has the newest event")
