"""This host's entries among the hosts of the fleet: renewed while it lives, left behind when it dies."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections import deque
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
_WATCHES = 7
"""In a lease: out of step with the renewals, which replace what a look is to find."""
_LOOKS = 2
"""In a lease: who lives has renewed it between two of them."""
_AGAIN_S = 1.0
_WRITTEN = 16
"""Words of this host that may still stand somewhere: a copy of a bucket may be behind."""
_WARNED_S = 600.0
_KEYS = "give each host a key of its own, and the permissions of conf/nats/permissions.conf; see docs/scaling.md"
_PERMITS = "give it the permissions of conf/nats/permissions.conf; see docs/scaling.md"
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
        self._written: deque[HostState] = deque(maxlen=_WRITTEN)
        self._connection = connection
        self._strange_s = float("-inf")

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
        holder = await self._registry.holder(self._host)
        if not self._may_have(state, holder):
            return
        if self._last is not None and holder is not None:
            self._compare({"hosts": holder})
        self._last = state
        self._written.append(_compared(state))
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

    async def watch(self) -> None:
        """Look until cancelled whether anybody else writes under this host's name. Its own next words replace that;
        whoever can write it is told of, for it can make the host look full, foreign or gone in between.
        """
        while True:
            await asyncio.sleep(self._settings.lease_s / _WATCHES)
            try:
                found = await self._registry.entries(self._host)
            except AcudError as fault:
                self._connection.warn("entries", f"this host can't look after its entries: {fault.message}", _PERMITS)
                continue
            self._connection.warn("entries", "", "")
            self._compare(found)

    def _compare(self, found: dict[str, HostState]) -> None:
        for bucket, state in found.items():
            if _compared(state) not in self._written:
                self._strange_s = time.monotonic()
                words = f"pid {state.instance.partition('-')[0] or '?'}, acud {state.version}"
                text = f"somebody else wrote the entry of host {self._host} in the bucket {bucket} (as {words})"
                self._connection.warn("name", f"{text}; this host took it back", _KEYS)
                return
        if time.monotonic() - self._strange_s > _WARNED_S:
            self._connection.warn("name", "", "")

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


def _compared(state: HostState) -> HostState:
    """Return what tells a host's own words from another's: an endpoint counts a display more when it claims a place."""
    return msgspec.structs.replace(state, displays=0)


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
