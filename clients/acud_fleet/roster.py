"""The hosts as this side sees them: read again and again, and who was lost or came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import msgspec

from acud import log
from acud.errors import AcudError, NotFound, Unavailable
from acud.jetstream.connection import Connection
from acud.protocol.requests.fleet_hosts import HostInfo
from acud_fleet.registry import Life, Member, Registry

_LOG = log.logger("fleet")
_READS = 4
"""In a lease."""
_LONGEST_S = 2.0

Told = Callable[[str, Member], None]
"""Hears `joined`, `lost`, `back` and `left`, with the host."""


class Roster:
    """The members of the fleet, as `run` last read them. A lease that is missing means a lost host only when reading
    went well for a whole lease: after an outage of the servers everybody's has run out.
    """

    def __init__(self, connection: Connection, told: Told) -> None:
        self._connection = connection
        self._registry = Registry(connection)
        self._told = told
        self._lease_s = connection.settings.lease_s
        self._good_since_s: float | None = None
        self._members: dict[str, Member] = {}
        self._changed = asyncio.Condition()
        self.fault = "not read yet"

    @property
    def registry(self) -> Registry:
        """The buckets behind it."""
        return self._registry

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            try:
                await self.read()
            except AcudError as fault:
                self._blind(fault)
            await asyncio.sleep(min(self._lease_s / _READS, _LONGEST_S))

    def _blind(self, fault: AcudError) -> None:
        if self.fault != fault.message:
            _LOG.warning("fleet.roster_unread", fault=fault.message)
        self.fault = fault.message
        self._good_since_s = None

    async def read(self) -> None:
        """Read the members now. Raises: Unavailable when no server answers."""
        began_s = time.monotonic()
        read = await self._registry.members()
        self._good_since_s = began_s if self._good_since_s is None else self._good_since_s
        self.fault = ""
        sure = not self._members or began_s - self._good_since_s >= self._lease_s
        before, self._members = self._members, {host: self._believed(one, sure) for host, one in read.items()}
        async with self._changed:
            self._changed.notify_all()
        self._tell(before)

    def _believed(self, member: Member, sure: bool) -> Member:
        known = self._members.get(member.host)
        if sure or member.life is not Life.LOST or known is None or known.life is not Life.UP:
            return member
        return msgspec.structs.replace(member, life=Life.UP)

    def _tell(self, before: dict[str, Member]) -> None:
        for host, member in self._members.items():
            word = _news(before.get(host), member)
            if word and before:
                self._told(word, member)

    # ---- asked ----

    def all(self) -> dict[str, Member]:
        """Return every member by name. Raises: Unavailable when they could not be read lately."""
        if self.fault or not self._connection.connected:
            if not self._connection.connected:
                raise self._connection.down()
            raise Unavailable(f"the hosts of the fleet can't be read: {self.fault}", hint="acud fleet status")
        return self._members

    def up(self) -> dict[str, Member]:
        """Return those that can be asked."""
        return {host: one for host, one in self.all().items() if one.life is Life.UP}

    def away(self) -> dict[str, str]:
        """Return why each host that can't be asked is not there."""
        return {host: one.told() for host, one in self.all().items() if one.life is not Life.UP}

    def checked(self, host: str) -> Member:
        """Return a host that can be asked. Raises: NotFound for a stranger; Unavailable, naming why, for one away."""
        member = self.all().get(host)
        if member is None:
            raise NotFound(f"no host {host!r} in this fleet", hint="acud fleet hosts")
        if member.life is not Life.UP:
            raise gone(member)
        return member

    async def until_up(self, host: str, within_s: float) -> bool:
        """Return once `host` can be asked; False after `within_s`."""
        try:
            async with asyncio.timeout(within_s), self._changed:
                await self._changed.wait_for(lambda: self._is_up(host))
        except TimeoutError:
            return False
        return True

    def _is_up(self, host: str) -> bool:
        member = self._members.get(host)
        return member is not None and member.life is Life.UP and not self.fault


def gone(member: Member) -> Unavailable:
    """Return the error of a host that is away; fact `reason` is how."""
    return Unavailable(
        member.told() or f"host {member.host} does not answer",
        hint="acud fleet hosts; what is there goes on when it is back",
        reason=member.life.value,
        host=member.host,
    )


def info_of(member: Member) -> HostInfo:
    """Return a host as clients see it."""
    state = member.state
    return HostInfo(
        member.host,
        member.life.value,
        member.told(),
        state.labels,
        state.displays,
        state.room,
        state.load,
        state.live_waits,
        member.draining,
        state.version,
        state.protocol,
        state.utc_s,
    )


def _news(before: Member | None, now: Member) -> str:
    if before is None:
        return "joined" if now.life is Life.UP else ""
    if before.life is now.life:
        return ""
    if now.life is Life.UP:
        return "back"
    return "lost" if now.life is Life.LOST else "left" if now.life is Life.LEFT else ""
