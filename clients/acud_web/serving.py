"""The listeners of one process, over one client of the daemon."""

from __future__ import annotations

import asyncio
import contextlib

from acud.paths import Paths
from acud_client.aio import AsyncClient
from acud_web import app, gateway
from acud_web.crowd import Crowd
from acud_web.desk import Desk
from acud_web.gate import Gate
from acud_web.gateway_listening import GatewayListening
from acud_web.guard import Guard
from acud_web.listening import Listening
from acud_web.live.hub import Hub
from acud_web.server import Server

_RELAY_CONNECTIONS = 400
"""Connections and answers at once; more are told 503. A process may open 1,024 files, and the gateway has its own."""


class Serving:
    """One run of what is listened for (None: not served), for the daemon of `paths`. Borrows the sockets; run once."""

    def __init__(self, relay: Listening | None, dashboard: GatewayListening | None, paths: Paths) -> None:
        self._paths = paths
        self._guard = Guard(app.application, relay.settings, relay.token) if relay is not None else None
        self._gate = Gate(gateway.application, dashboard.settings) if dashboard is not None else None
        self._servers: list[Server] = []
        if relay is not None and self._guard is not None:
            self._servers.append(Server(self._guard, relay.socket, _RELAY_CONNECTIONS))
        if dashboard is not None and self._gate is not None:
            self._servers.append(_gateway_server(self._gate, dashboard))

    async def run(self) -> None:
        """Serve until `stop`."""
        async with (
            AsyncClient(self._paths) as client,
            contextlib.AsyncExitStack() as stack,
            asyncio.TaskGroup() as beside,
        ):
            desk = Desk(client)
            hearing: list[asyncio.Task[None]] = []
            if self._gate is not None:
                live = await stack.enter_async_context(Hub(desk, self._paths, self._gate.settings))
                hearing.append(beside.create_task(self._gate.open(desk, live).run(client)))
            if self._guard is not None:
                self._guard.desk = desk
            async with asyncio.TaskGroup() as serving:
                for server in self._servers:
                    serving.create_task(server.run())
            for task in hearing:
                task.cancel()

    def stop(self) -> None:
        """End in good order: no new connections, answers under way finished."""
        for server in self._servers:
            server.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused at the doors, since the start."""
        doors = [door for door in (self._guard, self._gate) if door is not None]
        return {
            "requests": float(sum(door.passed for door in doors)),
            "refused": float(sum(door.refused for door in doors)),
        }


def _gateway_server(gate: Gate, dashboard: GatewayListening) -> Server:
    wanted = dashboard.settings
    crowd = Crowd(wanted.max_connections, wanted.max_connections_per_address)
    certificate = (dashboard.cert, dashboard.key)
    most = wanted.max_connections + 1  # the crowd's own limit comes first, and makes room
    return Server(gate, dashboard.socket, most, crowd, websockets=True, certificate=certificate)
