"""This host's entries among the hosts of the fleet: renewed while it lives, left behind when it dies."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from pathlib import Path

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
_LOOKS = 2
"""In a lease: who lives has renewed it between two of them."""
_AGAIN_S = 1.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Joining:
    """Says that `host` lives, and how full it is. `home`: the folder of its daemon, which is there once only."""

    def __init__(self, host: str, connection: Connection, client: AsyncClient, vacancy: Vacancy, home: Path) -> None:
        self._host = host
        self._settings = connection.settings
        self._registry = Registry(connection)
        self._client = client
        self._vacancy = vacancy
        self._place = _place(home)
        self._last: HostState | None = None
        self._holder: HostState | None = None
        """Who had the name when this host came, and may be dead."""
        self._fault = ""

    async def enter(self) -> None:
        """Return once this host has its name; at once, unless another daemon has or had it, which then had time to
        renew its lease. Raises: ConfigError when it did, or the fleet is set up differently from this host.
        """
        while self._last is None:
            done = await self._tried()
            if self._last is None:
                await asyncio.sleep(self._settings.lease_s / _LOOKS if done else _AGAIN_S)

    async def run(self) -> None:
        """Renew until cancelled, once entered. Raises: ConfigError as `enter` does."""
        while True:
            await asyncio.sleep(self._settings.lease_s / _RENEWALS if not self._fault else _AGAIN_S)
            await self._tried()

    async def _tried(self) -> bool:
        try:
            await self._renew(await self._state())
        except ConfigError:
            raise
        except AcudError as fault:
            if fault.message != self._fault:
                _LOG.warning("fleet.not_renewed", fault=fault.message)
            self._fault = fault.message
            return False
        self._fault = ""
        return True

    async def _renew(self, state: HostState) -> None:
        if not self._may_have(state, await self._registry.holder(self._host)):
            return
        self._last = state
        await self._registry.renew(state)
        self._vacancy.draining = await self._registry.is_draining(self._host)

    def _may_have(self, state: HostState, holder: HostState | None) -> bool:
        """Tell whether the name is this host's by now. Raises: ConfigError when another living daemon has it."""
        if holder is None or holder.instance == state.instance or holder.place == state.place:
            return True
        if self._last is not None:  # both came at once: the younger gives way
            if _born(holder) < _born(state):
                raise _taken(holder)
            return True
        before, self._holder = self._holder, holder
        if before is None:
            _LOG.info("fleet.name_held", host=self._host, by=holder.instance)
            return False
        if (before.instance, before.utc_s) != (holder.instance, holder.utc_s):
            raise _taken(holder)
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
            place=self._place,
        )


def _place(home: Path) -> str:
    """Return what no other folder of a machine that is up has, and this one has as long as the machine is up."""
    found = home.stat()
    words = f"{_BOOT_ID.read_text(encoding='ascii').strip()} {found.st_dev} {found.st_ino}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _born(state: HostState) -> tuple[int, str]:
    """Return what orders runs of daemons by age."""
    started_ms = state.instance.rpartition("-")[2]
    return (int(started_ms) if started_ms.isdecimal() else 0, state.instance)


def _taken(holder: HostState) -> ConfigError:
    pid, _, _ = holder.instance.partition("-")
    return ConfigError(
        f"another daemon is host {holder.host} of this fleet: pid {pid} on its machine, acud {holder.version}, "
        f"with {holder.displays} of {holder.room} displays, heard {max(0.0, time.time() - holder.utc_s):.0f} s ago",
        hint="give each host a name of its own: [fleet] host",
    )
