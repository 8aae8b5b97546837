"""What answers requests in each process of a fleet's endpoint, wired, and kept in step with the fleet."""

from __future__ import annotations

import asyncio

from acud.features.fleet.connection import NatsConnection
from acud_fleet import lost_waits, registry
from acud_fleet.host_client import HostClient
from acud_fleet.lost_waits import LostWaits
from acud_fleet.places import Places
from acud_fleet.registry import Roster
from acud_fleet.request_router import RequestRouter


class EndpointParts:
    """The `router` over `connection`, and the registries that it reads. `on_member` is called for changes of hosts,
    `on_wait_end` for waits that are ended in place of their host. `home`: the endpoint's folder.
    """

    def __init__(
        self, connection: NatsConnection, on_member: registry.Told, on_wait_end: lost_waits.Told, home: str
    ) -> None:
        self._connection = connection
        self._roster = Roster(connection, on_member, lambda host: self._host_client.answers(host))
        self._host_client = HostClient(connection, self._roster)
        places = Places(connection)
        self._lost_waits = LostWaits(connection, self._roster, places, self._host_client, on_wait_end)
        self.router = RequestRouter(connection, self._roster, self._host_client, places, self._lost_waits, home)

    async def run(self) -> None:
        """Keep in step until cancelled."""
        await self._connection.ready()
        await self._host_client.open()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._host_client.run())
            group.create_task(self._roster.read_until_cancelled())
            group.create_task(self._lost_waits.run())

    async def until_hosts_known(self) -> None:
        """Return once the hosts could be read: until then requests are refused."""
        await self._roster.until_read()
