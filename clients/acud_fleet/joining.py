"""This host's entries among the hosts of the fleet: renewed while it lives, left behind when it dies."""

from __future__ import annotations

import asyncio
import os
import time

import msgspec

from acud import __version__, log
from acud.errors import AcudError, ConfigError
from acud.jetstream.connection import Connection
from acud.protocol import VERSION
from acud.protocol.fleet import HostState
from acud.protocol.requests.status import Status, StatusReply
from acud_client.aio import AsyncClient
from acud_fleet.registry import Registry
from acud_fleet.vacancy import Vacancy

_LOG = log.logger("fleet")
_RENEWALS = 3
"""In a lease: two may be lost."""
_AGAIN_S = 1.0


class Joining:
    """Says that `host` lives, and how full it is."""

    def __init__(self, host: str, connection: Connection, client: AsyncClient, vacancy: Vacancy) -> None:
        self._host = host
        self._settings = connection.settings
        self._registry = Registry(connection)
        self._client = client
        self._vacancy = vacancy
        self._last: HostState | None = None
        self._fault = ""

    async def run(self) -> None:
        """Renew until cancelled. Raises: ConfigError when the fleet is set up differently from this host."""
        while True:
            done = await self._tried()
            await asyncio.sleep(self._settings.lease_s / _RENEWALS if done else _AGAIN_S)

    async def _tried(self) -> bool:
        try:
            self._last = await self._state()
            await self._registry.renew(self._last)
            self._vacancy.draining = await self._registry.is_draining(self._host)
        except ConfigError:
            raise
        except AcudError as fault:
            if fault.message != self._fault:
                _LOG.warning("fleet.not_renewed", fault=fault.message)
            self._fault = fault.message
            return False
        self._fault = ""
        return True

    async def leave(self) -> None:
        """Say that this host ends in good order; its waits stay armed for its return."""
        if self._last is not None:
            await self._registry.leave(msgspec.structs.replace(self._last, left=True, utc_s=time.time()))

    async def _state(self) -> HostState:
        status = await self._client.ask(Status(), StatusReply)
        return HostState(
            host=self._host,
            instance=f"{status.pid}-{int(status.started_utc_s * 1000)}",
            labels=self._settings.labels,
            displays=await self._vacancy.displays(),
            room=self._vacancy.room,
            load=round(os.getloadavg()[0] / len(os.sched_getaffinity(0)), 3),
            version=__version__,
            protocol=VERSION,
            utc_s=time.time(),
            live_waits=status.waits_live,
        )
