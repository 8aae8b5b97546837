"""The hosts of the fleet: who lives, who was there and is gone, who takes nothing new."""

from __future__ import annotations

import time
from enum import StrEnum

import msgspec

from acud.errors import InvalidRequest, NotFound
from acud.jetstream.connection import Connection
from acud.protocol import VERSION, codec
from acud.protocol.fleet import HostState
from acud_fleet.buckets import Bucket, Entry


class Life(StrEnum):
    """What can be said of a host now."""

    UP = "up"
    LOST = "lost"
    """Its lease ran out without a word."""
    LEFT = "left"
    """It was ended in good order; its waits stay armed."""
    FOREIGN = "foreign"
    """It lives, and speaks another version of the protocol."""


class Member(msgspec.Struct, frozen=True):
    """A host that joined once: how it is, and its newest words. `revision` of its lease, for a claim (0: none)."""

    state: HostState
    life: Life
    draining: bool = False
    revision: int = 0

    @property
    def host(self) -> str:
        """Its name."""
        return self.state.host

    @property
    def free(self) -> int:
        """How many more displays it takes."""
        return 0 if self.draining or self.life is not Life.UP else max(0, self.state.room - self.state.displays)

    def told(self) -> str:
        """Return in one line why it does not answer, or "" when it should."""
        ago = max(0.0, time.time() - self.state.utc_s)
        return {
            Life.UP: "",
            Life.LOST: f"host {self.host} is lost: it last said something {ago:.0f} s ago",
            Life.LEFT: f"host {self.host} was stopped {ago:.0f} s ago",
            Life.FOREIGN: f"host {self.host} (acud {self.state.version}) speaks protocol {self.state.protocol}, "
            f"this side {VERSION}",
        }[self.life]


class Registry:
    """Three buckets: `hosts`, whose keys are leases; `members`, the newest words of all that ever joined; `drains`."""

    def __init__(self, connection: Connection) -> None:
        self._hosts = Bucket(connection, "hosts", ttl_s=connection.settings.lease_s)
        self._members = Bucket(connection, "members")
        self._drains = Bucket(connection, "drains")

    # ---- of a host itself ----

    async def holder(self, host: str) -> HostState | None:
        """Return the newest words of who has the lease of `host` now; None when nobody has."""
        lease = await self._hosts.get(host)
        return None if lease is None else _state(host, lease.value)

    async def entries(self, host: str) -> dict[str, HostState]:
        """Return what stands under the name of `host` now, by bucket: whoever wrote it."""
        found = {"hosts": await self._hosts.get(host), "members": await self._members.get(host)}
        return {name: _state(host, entry.value) for name, entry in found.items() if entry is not None}

    async def renew(self, state: HostState) -> None:
        """Prolong the lease of a host."""
        data = codec.encode(state)
        await self._members.put(state.host, data)
        await self._hosts.put(state.host, data)

    async def leave(self, state: HostState) -> None:
        """Give the lease up."""
        await self._members.put(state.host, codec.encode(state))
        await self._hosts.remove(state.host)

    async def is_draining(self, host: str) -> bool:
        """Tell whether `host` is to take nothing new."""
        return await self._drains.get(host) is not None

    # ---- of all ----

    async def members(self) -> dict[str, Member]:
        """Return every host that ever joined, by name."""
        leases = {entry.key: entry for entry in await self._hosts.entries()}
        drains = {entry.key for entry in await self._drains.entries()}
        known = {entry.key: entry for entry in await self._members.entries()}
        hosts = sorted(known.keys() | leases.keys())
        return {host: _member(host, known, leases, host in drains) for host in hosts}

    async def claim(self, member: Member) -> bool:
        """Count one display more on a host; False when its words changed meanwhile. Its own next ones replace this."""
        counted = msgspec.structs.replace(member.state, displays=member.state.displays + 1)
        return await self._hosts.swap(member.host, codec.encode(counted), member.revision)

    async def drain(self, host: str, *, on: bool) -> None:
        """Have `host` take nothing new, or take it again. Raises: NotFound for a host that never joined."""
        if await self._members.get(host) is None:
            raise NotFound(f"no host {host} in this fleet", hint="acud fleet hosts")
        if on:
            await self._drains.put(host, b"1")
        else:
            await self._drains.remove(host)

    async def forget(self, host: str) -> None:
        """Forget a host that will not come back."""
        await self._members.remove(host)
        await self._drains.remove(host)


def _member(host: str, known: dict[str, Entry], leases: dict[str, Entry], draining: bool) -> Member:
    lease = leases.get(host)
    state = _state(host, (lease or known[host]).value)
    if lease is None:
        return Member(state, Life.LEFT if state.left else Life.LOST, draining)
    life = Life.UP if state.protocol == VERSION else Life.FOREIGN
    return Member(state, life, draining, lease.revision)


def _state(host: str, data: bytes) -> HostState:
    try:
        return codec.decode(data, HostState)
    except InvalidRequest:  # of a version that says it otherwise: there, and not understood
        return HostState(host, "", {}, 0, 0, 0.0, "unknown", 0, 0.0)
