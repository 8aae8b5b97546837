"""The hosts of the fleet: which live, were lost, came back or left in good order, and which take nothing new.

`Registry` reads and writes the entries on the servers; `Roster` reads them repeatedly and reports changes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from enum import StrEnum

import msgspec

from acud.base import log
from acud.base.errors import AcudError, InvalidRequest, NotFound, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import FRESH_S
from acud.protocol import VERSION, codec
from acud.protocol.fleet import HostState
from acud.protocol.requests.fleet import HostInfo
from acud_fleet.streams import Bucket, BucketEntry

_LOG = log.logger("fleet")
_READS = 4
"""In a lease."""
_LONGEST_S = 2.0
_PROOF = "_"
"""A key beside the leases: no host is called so."""


class Life(StrEnum):
    """The state of a host now."""

    UP = "up"
    LOST = "lost"
    """Its lease ran out without a word."""
    LEFT = "left"
    """It was ended in good order; its waits stay armed."""
    FOREIGN = "foreign"
    """It lives, and speaks another version of the protocol."""
    UNPROVEN = "unproven"
    """It does not answer, and its entries have no valid signature."""


class Member(msgspec.Struct, frozen=True):
    """A host that joined once: its state, and its newest report. `revision` of its lease, for a claim (0: none)."""

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

    def describe_absence(self) -> str:
        """Return in one line why the host does not answer, "" for a host that should."""
        ago = max(0.0, time.time() - self.state.utc_s)
        return {
            Life.UP: "",
            Life.LOST: f"host {self.host} is lost: it last said something {ago:.0f} s ago",
            Life.LEFT: f"host {self.host} was stopped {ago:.0f} s ago",
            Life.FOREIGN: f"host {self.host} (acud {self.state.version}) speaks protocol {self.state.protocol}, "
            f"this side {VERSION}",
            Life.UNPROVEN: f"host {self.host} does not answer, and what the servers say of it is signed by nobody",
        }[self.life]


Told = Callable[[str, Member], None]
"""Called with `joined`, `lost`, `back` or `left`, and the host."""


class Registry:
    """Three buckets: `hosts`, whose keys are leases; `members`, the newest reports of all that ever joined;
    `drains`.
    """

    def __init__(self, connection: NatsConnection) -> None:
        self._checks = connection.signatures.checks
        self._lease_s = connection.settings.lease_s
        self._hosts = Bucket(connection, "hosts", ttl_s=self._lease_s)
        self._members = Bucket(connection, "members")
        self._drains = Bucket(connection, "drains")

    # ---- of a host itself ----

    async def holder(self, host: str) -> HostState | None:
        """Return the newest report of the daemon that has the lease of `host` now; None if the lease is free, or not
        validly signed.
        """
        lease = await self._hosts.get(host)
        return None if lease is None else self._read_lease(lease)

    async def entries(self, host: str) -> dict[str, HostState]:
        """Return the entries under the name of `host` now, by bucket, signed or not."""
        found = {"hosts": await self._hosts.get(host), "members": await self._members.get(host)}
        return {name: parse_state(host, entry.found) for name, entry in found.items() if entry is not None}

    async def renew(self, state: HostState) -> None:
        """Prolong the lease of a host."""
        data = codec.encode(state)
        await self._members.put(state.host, data)
        await self._hosts.put(state.host, data)

    async def give_up_lease(self, state: HostState) -> None:
        """Delete the lease of this host, which ends in good order."""
        await self._members.put(state.host, codec.encode(state))
        await self._hosts.remove(state.host)

    async def is_draining(self, host: str) -> bool:
        """Return whether `host` is to take nothing new."""
        drain = await self._drains.get(host)
        return drain is not None and drain.fault is None

    # ---- of all ----

    async def members(self) -> dict[str, Member]:
        """Return every host that ever joined, by name. Of a host with a lease only the lease is read: it has all."""
        leases = {entry.key: entry for entry in await self._hosts.entries() if entry.key != _PROOF}
        drains = {entry.key for entry in await self._drains.entries() if entry.fault is None}
        found = {host: self._make_leased(host, lease, host in drains) for host, lease in leases.items()}
        joined = dict.fromkeys((*await self._members.keys(), *found))
        without = [host for host in joined if found.get(host) is None]
        known = {entry.key: entry for entry in await self._members.get_all(without)}
        for host in without:
            found[host] = _make_unleased(host, known.get(host), leases.get(host), host in drains)
        return {host: member for host, member in sorted(found.items()) if member is not None}

    def _make_leased(self, host: str, lease: BucketEntry, draining: bool) -> Member | None:
        """Return the host of a lease; None if the lease is not valid."""
        state = self._read_lease(lease)
        if state is None:
            return None
        return Member(state, Life.UP if state.protocol == VERSION else Life.FOREIGN, draining, lease.revision)

    def _read_lease(self, lease: BucketEntry) -> HostState | None:
        """Return the report in a lease; None if its signature is not valid, or it was put back later."""
        if lease.fault is not None:
            return None
        state = parse_state(lease.key, lease.value)
        is_old = abs(time.time() - state.utc_s) > self._lease_s + FRESH_S
        return None if self._checks and state.utc_s and is_old else state

    async def prove(self) -> None:
        """Write beside the leases. Raises: Unavailable when too few servers are there to store it: leases then run out
        because no host can renew them.
        """
        await self._hosts.put(_PROOF, b"")

    async def claim(self, member: Member) -> bool:
        """Count one display more on a host; False when its report changed meanwhile. Its own next one replaces this."""
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


class Roster:
    """The members of the fleet, as `read_members` last read them.

    A lease that is missing means a lost host only when the servers took what was written to them for a whole lease,
    nothing new of the host was read meanwhile, and the host `answers` no question: while too few servers are up every
    lease runs out, one that was away may answer from an old copy, and one that led may let writes hang. And operators
    of the servers can remove a lease, put older reports back, or write unsigned ones.
    """

    def __init__(self, connection: NatsConnection, on_member: Told, answers: Callable[[str], Awaitable[bool]]) -> None:
        self._connection = connection
        self._registry = Registry(connection)
        self._on_member = on_member
        self._answers = answers
        self._lease_s = connection.settings.lease_s
        self._checks = connection.signatures.checks
        self._good_since_s: float | None = None
        self._heard: dict[str, tuple[float, float]] = {}
        """The time in a host's newest report, and when that was first read here."""
        self._members: dict[str, Member] = {}
        self._changed = asyncio.Condition()
        self.fault = "not read yet"

    @property
    def registry(self) -> Registry:
        """The registry (NATS buckets) that this roster is read from."""
        return self._registry

    @property
    def sure(self) -> bool:
        """Whether the servers took all writes for a whole lease: every living host has renewed its own by now."""
        return self._good_since_s is not None and time.monotonic() - self._good_since_s >= self._lease_s

    async def read_until_cancelled(self) -> None:
        """Read until cancelled."""
        while True:
            try:
                await self.read_members()
            except AcudError as fault:
                self._note_unread(fault)
            await asyncio.sleep(min(self._lease_s / _READS, _LONGEST_S))

    def _note_unread(self, fault: AcudError) -> None:
        if self.fault != fault.message:
            _LOG.warning("fleet.roster_unread", fault=fault.message)
        self.fault = fault.message
        self._good_since_s = None

    async def read_members(self) -> None:
        """Read the members from the server, update this roster, and notify of changes. Raises: Unavailable."""
        began_s = time.monotonic()
        await self._prove_quorum()
        read = await self._registry.members()
        self._note_heard(read)
        self._good_since_s = began_s if self._good_since_s is None else self._good_since_s
        self.fault = ""
        sure = not self._members or began_s - self._good_since_s >= self._lease_s
        believed = await asyncio.gather(*(self._settle_life(one, sure) for one in read.values()))
        before, self._members = self._members, dict(zip(read, believed, strict=True))
        async with self._changed:
            self._changed.notify_all()
        self._notify_changes(before)

    async def _prove_quorum(self) -> None:
        try:
            await self._registry.prove()
        except Unavailable as fault:
            if "reason" in fault.facts:  # no server answers, or the bucket is missing
                raise
            raise Unavailable(
                f"which hosts live can't be told, as too few NATS servers of the fleet take a word: {fault.message}",
                hint="start the other servers; hosts go on by themselves meanwhile",
                reason="no_quorum",
            ) from fault

    def _note_heard(self, read: dict[str, Member]) -> None:
        now_s = time.monotonic()
        for host, member in read.items():
            newest_s = self._heard[host][0] if host in self._heard else float("-inf")
            if member.state.utc_s > newest_s or (member.state.utc_s < newest_s and not self._checks):
                self._heard[host] = (member.state.utc_s, now_s)

    async def _settle_life(self, member: Member, sure: bool) -> Member:
        known = self._members.get(member.host)
        member = self._choose_newest(member, known)
        is_silent = sure and time.monotonic() - self._heard[member.host][1] >= self._lease_s
        if not self._has_to_answer(member, known):
            return member
        if (known is None or known.life is not Life.UP or is_silent) and not await self._answers(member.host):
            return member
        if is_silent:
            _LOG.warning("fleet.lease_unwritten", host=member.host)
        state = known.state if known is not None and not member.state.utc_s else member.state
        return msgspec.structs.replace(member, life=Life.UP, state=state)

    def _has_to_answer(self, member: Member, old_member: Member | None) -> bool:
        """Return whether `member` may live though its entries do not show it. One that was silent once is lost until
        they do.
        """
        match member.life:
            case Life.UNPROVEN:
                return True
            case Life.LOST:
                return old_member is None or old_member.life is Life.UP
            case Life.LEFT:
                return old_member is None and self._checks
        return False

    def _choose_newest(self, member: Member, old_member: Member | None) -> Member:
        """Return a member by its newest report, if older ones of it were put back."""
        if not self._checks:
            return member
        newest_s, heard_s = self._heard[member.host]
        if old_member is not None and 0 < member.state.utc_s < newest_s:
            member = old_member
        if member.life is Life.UP and time.monotonic() - heard_s >= self._lease_s:
            member = msgspec.structs.replace(member, life=Life.LOST)
        return member

    def _notify_changes(self, before: dict[str, Member]) -> None:
        for host, member in self._members.items():
            word = _name_change(before.get(host), member)
            if word and before:
                self._on_member(word, member)

    # ---- asked ----

    def all(self) -> dict[str, Member]:
        """Return every member by name. Raises: Unavailable when they could not be read lately."""
        if self.fault or not self._connection.connected:
            if not self._connection.connected:
                raise self._connection.down()
            raise Unavailable(f"the hosts of the fleet can't be read: {self.fault}", hint="acud fleet status")
        return self._members

    def up(self) -> dict[str, Member]:
        """Return the hosts that can be asked."""
        return {host: one for host, one in self.all().items() if one.life is Life.UP}

    def away(self) -> dict[str, str]:
        """Return, by host, why a host cannot be asked."""
        return {host: one.describe_absence() for host, one in self.all().items() if one.life is not Life.UP}

    def find_checked(self, host: str) -> Member:
        """Return the member `host`. Raises: NotFound for an unknown host; Unavailable, with why, for one away."""
        member = self.all().get(host)
        if member is None:
            raise NotFound(f"no host {host!r} in this fleet", hint="acud fleet hosts")
        if member.life is not Life.UP:
            raise make_gone(member)
        return member

    async def until_read(self) -> None:
        """Return once the members could be read."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self.fault)

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


def make_gone(member: Member) -> Unavailable:
    """Return the error for a host that is away; its fact `reason` names the kind of absence."""
    return Unavailable(
        member.describe_absence() or f"host {member.host} does not answer",
        hint="acud fleet hosts; what is there goes on when it is back",
        reason=member.life.value,
        host=member.host,
    )


def make_host_info(member: Member) -> HostInfo:
    """Return a host as clients see it."""
    state = member.state
    return HostInfo(
        member.host,
        member.life.value,
        member.describe_absence(),
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


def _make_unleased(
    host: str, member_entry: BucketEntry | None, lease: BucketEntry | None, draining: bool
) -> Member | None:
    """Return a host without a valid lease; None if it has no entry."""
    words = [entry for entry in (member_entry, lease) if entry is not None]
    state = parse_state(host, b"" if member_entry is None or member_entry.fault is not None else member_entry.value)
    if any(entry.fault is not None for entry in words):
        return Member(state, Life.UNPROVEN, draining)
    if member_entry is None:
        return None
    return Member(state, Life.LEFT if state.left else Life.LOST, draining)


def parse_state(host: str, data: bytes) -> HostState:
    try:
        return msgspec.structs.replace(codec.decode(data, HostState), host=host)
    except InvalidRequest:  # of a version with another form: there, and not understood
        return HostState(host, "", {}, 0, 0, 0.0, "unknown", 0, 0.0)


def _name_change(before: Member | None, now: Member) -> str:
    if before is None:
        return "joined" if now.life is Life.UP else ""
    if before.life is now.life:
        return ""
    if now.life is Life.UP:
        return "back"
    return "lost" if now.life is Life.LOST else "left" if now.life is Life.LEFT else ""
