"""Real NATS servers with what a fleet's administrator makes on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

from msgspec.structs import replace

from acud.base.errors import Unavailable
from acud.config import JobSettings
from acud.config.fleet import FleetSettings
from acud.features.fleet.connection import NatsConnection
from acud_fleet import initialisation
from acud_fleet.access import Grants
from acud_fleet.initialisation import FleetRoles, PartState
from tests.fixtures.patience import LONG_S
from tests.nats_servers import Nats

Found = TypeVar("Found")
ROLES = FleetRoles(("h1", "h2", "h3", "alpha"), ("main", "other", "an.agent"), ("vision",))
"""Whom tests call so."""


class FleetServers(Nats):
    """Servers on which hosts, agents and workers of the usual names find all that they need. Use in `with`.

    `lease_s`: as the hosts' own settings say. `ack_wait_s`: how long readers of wakes may be silent. `login`: further
    settings of `[fleet]`, the administrator's credentials. `jobs`: of `[jobs]`. `grants`: whose keys the administrator
    lists; it may be changed before `initialise`.
    """

    def __init__(
        self,
        count: int = 1,
        extra: str = "",
        address: str = "127.0.0.1",
        *,
        lease_s: float = 10.0,
        ack_wait_s: float = 0.0,
        login: dict[str, Any] | None = None,
        roles: FleetRoles = ROLES,
        jobs: dict[str, Any] | None = None,
        grants: Grants | None = None,
    ) -> None:
        super().__init__(count, extra, address)
        self.grants = grants
        self._count = count
        self._lease_s = lease_s
        self._ack_wait_s = ack_wait_s
        self._login = login or {}
        self._roles = roles
        self._jobs = JobSettings(**(jobs or {}))

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self.initialise()
            if self._ack_wait_s:
                _run(self._shortened)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    @property
    def settings(self) -> FleetSettings:
        copies: Any = 3 if self._count == 3 else 1
        return FleetSettings(url=self.url, lease_s=self._lease_s, replicas=copies, **self._login)

    def initialise(self) -> list[PartState]:
        """Make what is missing, once the servers have found each other."""
        end_s = time.monotonic() + LONG_S
        while True:
            try:
                return _run(self._initialised)
            except Unavailable:
                if time.monotonic() > end_s:
                    raise
                time.sleep(0.1)

    async def _initialised(self) -> list[PartState]:
        keys = b"" if self.grants is None else self.grants.key_list()
        return await initialisation.look(self.settings, self._jobs, self._roles, change=True, grants=keys)

    async def _shortened(self) -> None:
        async with NatsConnection(self.settings, "test") as connection:
            await connection.ready()
            names = connection.names
            for stream, one in initialisation.list_consumers(names, self._jobs, replace(self._roles, kinds=())):
                await connection.streams.add_consumer(stream, one.evolve(ack_wait=self._ack_wait_s))


async def nothing_told(_: str) -> None:
    """Tell a publisher of wakes that the fleet told no other end of the wait."""


def _run(work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    """Return what `work` returns, in a loop of its own: the test may be in one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()
