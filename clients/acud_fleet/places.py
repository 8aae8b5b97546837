"""On which host tasks, waits, displays, recordings and runs live, and on which a new task or display is started.

The hosts' reports are looked up first; else hosts are asked. A new one goes by labels, then most room, then least load.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import msgspec

from acud.base import ids
from acud.base.errors import AcudError, Conflict, InvalidRequest, NotFound, OutcomeUnknown, Refused, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import LOST, key_of, name_in
from acud.protocol import codec
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import REARMED
from acud.protocol.requests.agents import AgentResult
from acud.protocol.requests.displays import DisplayCreate
from acud.protocol.requests.fleet import DisplayRecipe
from acud.protocol.requests.recordings import RecordShow
from acud.protocol.requests.tasks import TaskRegister, TaskThread
from acud.protocol.requests.waits import WaitShow
from acud.types import DisplayInfo, Labels, WaitInfo, WaitState
from acud.types.tasks import TaskView
from acud_fleet.host_client import HostClient
from acud_fleet.registry import Life, Member, Roster
from acud_fleet.streams import PLACES_KEPT_S, Bucket

ObjectInfo = WaitInfo | DisplayInfo | TaskView
Kind = Literal["task", "wait", "display", "recording", "run"]
Info = TypeVar("Info", bound=msgspec.Struct)
_REMEMBERED = 20_000
_TRIES = 40
_AGAIN_S = 0.05
_SOON_S = 0.002
"""A copy of the bucket may be read that is behind its leader: mostly for a moment, as two write the same at once."""
_PROBE_S = 10.0
FIELDS: dict[str, Kind] = {"task_id": "task", "wait_id": "wait", "recording_id": "recording", "run_id": "run"}
"""Fields of requests that name something which lives on one host."""
_NOUNS = {"task": "task", "wait": "wait", "recording": "rec", "run": "run"}
_CLAIMS = 12
"""Tries on hosts whose reports keep changing in between."""


class AssignedHost(msgspec.Struct, frozen=True):
    """The host that a starting request goes to, "" for none yet. `revision`: what the next assignment replaces."""

    host: str = ""
    revision: int = 0


class Places:
    """The bucket `places`: key `<host>.<kind>.<id>`, so that one host's are found together, and `_.request.<id>` for a
    request, whose host is chosen once. Remembers what it saw.

    A host and the endpoints may both end a wait. The end that was written first stands, and no wake goes into the
    stream before: so the fleet has one end. `<host>.lost.<id>` marks a wait that an endpoint ends until its host
    agrees.
    """

    def __init__(self, connection: NatsConnection) -> None:
        self._bucket = Bucket(connection, "places", ttl_s=PLACES_KEPT_S)
        self._hosts: OrderedDict[str, str] = OrderedDict()

    async def put(
        self, host: str, kind: Kind, name: str, info: ObjectInfo | None = None, recipe: DisplayRecipe | None = None
    ) -> ObjectPlace:
        """Write that `name` lives on `host`, and its state, unless that is there: a host and an endpoint write the
        same, and a grown count alone is no news. Never revive an ended object or change how it ended. `recipe`: what
        makes a display again. Return what stands then. Raises: Unavailable.
        """
        key = _make_key(host, kind, name)
        told = b"" if info is None else codec.encode_lean(info)
        fresh = ObjectPlace(host, kind, name, time.time(), told, recipe=recipe)
        for attempt in range(_TRIES):
            entry = await self._bucket.get(key)
            # Unsigned entries are overwritten; the host is the source of truth.
            stands = None if entry is None or entry.fault is not None else parse_place(entry.value)
            if stands is not None and (info is None or (_is_written(stands, info) and stands.recipe == recipe)):
                self.remember(name, host)
                return stands
            if await self._bucket.swap(key, codec.encode_lean(fresh), 0 if entry is None else entry.revision):
                self.remember(name, host)
                return fresh
            await asyncio.sleep(_pause_s(attempt))
        raise Unavailable(f"what is told of {kind} {name} can't be changed", hint="acud fleet status")

    async def remove(self, host: str, kind: Kind, name: str) -> None:
        """Write that `name` is no more."""
        await self._bucket.remove(_make_key(host, kind, name))
        self._hosts.pop(name, None)

    def remember(self, name: str, host: str) -> None:
        """Note where `name` was seen, for this process alone."""
        self._hosts[name] = host
        self._hosts.move_to_end(name)
        if len(self._hosts) > _REMEMBERED:
            self._hosts.popitem(last=False)

    async def host_of(self, kind: Kind, name: str, *, again: bool = False) -> str:
        """Return the host on which `name` lives, "" if it is not known. A wait is on the host where it was armed last;
        it may have been armed again since it was remembered (`again`: look).
        """
        if again:
            self._hosts.pop(name, None)
        if name not in self._hosts:
            found = [one for one in await self._bucket.entries(f"*.{kind}.{key_of(name)}") if one.fault is None]
            for entry in [one for one in found if kind != "wait" or not _has_moved(one.value)] or found:
                self.remember(name, entry.key.partition(".")[0])
        return self._hosts.get(name, "")

    async def names(self, host: str, kind: str) -> list[str]:
        """Return the ids of the tasks or waits of `host`, also of some that were removed."""
        return [key.rpartition(".")[2] for key in await self._bucket.keys(f"{host}.{kind}.*")]

    async def of(self, host: str, kind: Kind) -> list[ObjectPlace]:
        """Return everything of a kind that lives on `host`, as far as its signature is valid."""
        entries = await self._bucket.entries(f"{host}.{kind}.*")
        return [place for entry in entries if entry.fault is None and (place := parse_place(entry.value))]

    async def list_names(self, host: str, kind: Kind) -> list[str]:
        """Return the names of everything of a kind that is recorded for `host`, signed or not."""
        return [name_in(entry.key.split(".")[2]) for entry in await self._bucket.entries(f"{host}.{kind}.*")]

    async def forget(self, host: str) -> None:
        """Remove everything of `host` but the ends of waits that the fleet wrote in its place: those stand."""
        told = {_make_key(host, kind, one.name) for one in await self.read_lost_ends(host) for kind in ("wait", LOST)}
        for key in await self._bucket.keys(f"{host}.>"):
            if key not in told:
                await self._bucket.remove(key)
        self._hosts = OrderedDict((name, where) for name, where in self._hosts.items() if where != host)

    # ---- requests that start something ----

    async def find_assigned(self, request_id: str) -> AssignedHost:
        """Return the host to which the first endpoint assigned a request."""
        entry = await self._bucket.get(_request_key(request_id))
        return AssignedHost() if entry is None else AssignedHost(entry.value.decode(), entry.revision)

    async def assign(self, request_id: str, host: str, at: AssignedHost) -> AssignedHost:
        """Assign a request that stands `at` to `host`, and return where it stands then: of several endpoints that do so
        at the same time one wins, and all get its choice. Raises: Unavailable.
        """
        key = _request_key(request_id)
        for attempt in range(_TRIES):
            await self._bucket.swap(key, host.encode(), at.revision)
            stands = await self.find_assigned(request_id)
            if stands.revision > at.revision:
                return stands
            await asyncio.sleep(_pause_s(attempt))
        raise Unavailable(f"where request {request_id} goes can't be read", hint="acud fleet status")

    async def one(self, host: str, kind: Kind, name: str) -> ObjectPlace | None:
        """Return the place of `name`, None if there is none. Raises: Unavailable, with reason `unproven` for one
        without a valid signature.
        """
        entry = await self._bucket.get(_make_key(host, kind, name))
        return None if entry is None else parse_place(entry.value)

    # ---- waits ----

    async def change_wait(
        self, host: str, wait_id: str, change: Callable[[ObjectPlace | None], ObjectPlace | None]
    ) -> ObjectPlace | None:
        """Write what `change` makes of a wait's place (None: leave it), atomically: it is called again if another
        process wrote meanwhile. Return what stands then. Raises: Unavailable.
        """
        key = _make_key(host, "wait", wait_id)
        for attempt in range(_TRIES):
            entry = await self._bucket.get(key)
            stands = None if entry is None else parse_place(entry.value)
            wanted = change(stands)
            if wanted is None:
                return stands
            if await self._bucket.swap(key, codec.encode_lean(wanted), 0 if entry is None else entry.revision):
                return wanted
            await asyncio.sleep(_pause_s(attempt))
        raise Unavailable(f"what is told of wait {wait_id} can't be changed", hint="acud fleet status")

    async def is_ended(self, host: str, wait_id: str) -> bool:
        """Return whether the fleet may have ended a wait in place of `host`: that stands. Raises: Unavailable."""
        try:
            place = await self.one(host, "wait", wait_id)
        except Unavailable as fault:
            if fault.facts.get("reason") != "unproven":
                raise
            return True
        return place is not None and place.by_fleet

    async def mark_lost(self, host: str, wait_id: str) -> None:
        """Mark a wait that is about to be ended in the place of `host`."""
        await self._bucket.put(_make_key(host, LOST, wait_id), b"1")

    async def unmark_lost(self, host: str, wait_id: str) -> None:
        """Take the mark away: the wait was not ended, or its host has ended it in the same way."""
        await self._bucket.remove(_make_key(host, LOST, wait_id))

    async def confirmed_ends(self, host: str) -> list[ObjectPlace]:
        """Return the ends of the waits of `host` that were marked, as they stand now: each is written again, for a read
        alone may be answered from a copy that is behind. Raises: Unavailable.
        """

        def touch(stands: ObjectPlace | None) -> ObjectPlace | None:
            return None if stands is None else msgspec.structs.replace(stands, utc_s=time.time())

        found = [await _skip_unproven(self.change_wait(host, name, touch)) for name in await self.names(host, LOST)]
        return [place for place in found if place is not None and place.by_fleet]

    async def read_lost_ends(self, host: str = "*") -> list[ObjectPlace]:
        """Return the ends of waits that were written in place of `host` (`*`: of any), to which it has not agreed yet,
        or will not because it had ended the wait in another way.
        """
        marks = [entry.key.split(".") for entry in await self._bucket.entries(f"{host}.{LOST}.*")]
        found = [await _skip_unproven(self.one(of, "wait", wait_id)) for of, _, wait_id in marks]
        return [place for place in found if place is not None and place.by_fleet]

    async def list_marked(self) -> dict[str, list[str]]:
        """Return by host the ids of the waits that are marked, also of some that were."""
        found: dict[str, list[str]] = {}
        for key in await self._bucket.keys(f"*.{LOST}.*"):
            host, _, wait_id = key.split(".")
            found.setdefault(host, []).append(wait_id)
        return found


class PlaceFinder:
    """Finds hosts of objects."""

    def __init__(self, host_client: HostClient, roster: Roster, places: Places) -> None:
        self._host_client = host_client
        self._roster = roster
        self._places = places

    async def host_of(self, kind: Kind, name: str) -> str:
        """Return the host of `name`, which may be an id's unambiguous beginning or ending.

        Raises: NotFound when every host was asked and none knows it; Unavailable, naming silent hosts, when one of
        those might; Conflict when several know one that begins or ends so.
        """
        host = await self._places.host_of(kind, name) if ids.is_id(name, _NOUNS[kind]) else ""
        return host or await self._ask_all(kind, name)

    async def any_host_of(self, name: str) -> str:
        """Return the host of `name`, whatever it is. Raises: NotFound, Unavailable."""
        noun = name.partition("-")[0]
        for kind in FIELDS.values():
            if _NOUNS[kind] == noun:
                return (await self._places.host_of(kind, name, again=True)) or await self.host_of(kind, name)
        raise NotFound(f"{name!r} is no id of a task, wait, run or recording", hint="give a whole id")

    async def _ask_all(self, kind: Kind, name: str) -> str:
        hosts = list(self._roster.up())
        answers = await asyncio.gather(*(self._ask_knows(host, kind, name) for host in hosts))
        found = [host for host, known in zip(hosts, answers, strict=True) if known is True]
        if len(found) == 1:
            self._places.remember(name, found[0])
            return found[0]
        if found:
            raise Conflict(
                f"{name} begins or ends an id on several hosts: {', '.join(found)}", hint="give the whole id"
            )
        silent = self._roster.away() | {
            host: str(fault) for host, fault in zip(hosts, answers, strict=True) if isinstance(fault, AcudError)
        }
        if silent:
            raise make_missing(f"no host that answers knows {kind} {name}", silent)
        raise NotFound(f"no host of the fleet knows {kind} {name}", hint=f"acud --fleet {kind} list")

    async def _ask_knows(self, host: str, kind: Kind, name: str) -> bool | AcudError:
        try:
            reply = await self._host_client.ask(host, _make_probe(kind, name), ids.new_id("req"), _PROBE_S)
        except NotFound:
            return False
        except AcudError as fault:
            return fault
        return kind != "wait" or reply.wait.verdict.code != REARMED


def make_missing(what: str, silent: dict[str, Any]) -> Unavailable:
    """Return the error of an answer that lacks hosts; it names each with its reason."""
    reasons = "; ".join(str(reason) or host for host, reason in silent.items())
    return Unavailable(
        f"{what}, and not every host answers: {reasons}",
        hint="acud fleet hosts; acud fleet forget HOST for one that will not come back",
        reason="hosts_missing",
        hosts=",".join(silent),
    )


class Placement:
    """Finds a host for what is new, and starts it there once, however often it is asked with the same id."""

    def __init__(self, host_client: HostClient, roster: Roster, places: Places) -> None:
        self._host_client = host_client
        self._roster = roster
        self._places = places

    async def start(
        self,
        request: TaskRegister | DisplayCreate,
        request_id: str,
        within_s: float,
        passed_over: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[str, Any]:
        """Return the host that took `request`, and its reply. `passed_over`: hosts that are not to be asked, and why.

        Raises: Refused when no host would do, naming each reason; OutcomeUnknown when the host was lost over it.
        """
        refused = dict(passed_over)
        at = await self._places.find_assigned(request_id)
        again = bool(at.host)
        for _ in range(_CLAIMS):
            if at.host in refused or not await self._is_member(at.host):
                member = await self._claim_place(request, refused)
                at, again = await self._places.assign(request_id, member.host, at), False
                if at.host in refused:  # another endpoint is about to be refused as we were
                    continue
            reply = await self._try_host(at.host, request, request_id, within_s, refused, again=again)
            if reply is not None:
                return at.host, reply
            at = await self._places.find_assigned(request_id)
        raise make_nowhere(refused)

    async def _is_member(self, host: str) -> bool:
        """Return whether `host` is one of the fleet, not forgotten meanwhile; another endpoint may know it first."""
        if host and host not in self._roster.all():
            await self._roster.read_members()
        return host in self._roster.all()

    async def _claim_place(self, request: TaskRegister | DisplayCreate, reasons: dict[str, str]) -> Member:
        needs_room = isinstance(request, DisplayCreate) or request.isolated_display
        for _ in range(_CLAIMS):
            members = list(self._roster.all().values())
            best, others = choose(members, request.labels, needs_room=needs_room, passed_over=reasons)
            if best is None:
                raise make_nowhere(others)
            if not needs_room or await self._roster.registry.claim(best):
                return best
            await self._roster.read_members()
        raise Unavailable("the hosts of the fleet change too fast to claim a place", hint="ask again")

    async def _try_host(
        self, host: str, request: Any, request_id: str, within_s: float, reasons: dict[str, str], *, again: bool
    ) -> Any:
        """Return the reply of `host`, None when it takes nothing: then it is in `reasons`."""
        try:
            return await self._host_client.ask(host, request, request_id, within_s, again=again)
        except Refused as fault:
            if fault.facts.get("reason") != "no_room":
                raise
            reasons[host] = fault.message
        except Unavailable as fault:
            if fault.facts.get("delivered") is not False:
                raise _make_unsure(fault, host) from fault
            reasons[host] = fault.message
        await self._roster.read_members()
        return None


def choose(
    members: list[Member], labels: Labels, *, needs_room: bool, passed_over: dict[str, str]
) -> tuple[Member | None, dict[str, str]]:
    """Return the host to take (None for none), and why each other one was not chosen."""
    reasons = {one.host: _explain_refusal(one, labels, needs_room=needs_room) for one in members} | passed_over
    able = [one for one in members if not reasons[one.host]]
    best = min(able, key=lambda one: (-one.free, one.state.load, one.host), default=None)
    others = {
        one.host: reasons[one.host] or f"room for {one.free} more, load {one.state.load:g}"
        for one in members
        if best is None or one.host != best.host
    }
    return best, others


def make_nowhere(reasons: dict[str, str]) -> Refused:
    """Return the error of a fleet without a fitting host."""
    told = "; ".join(f"{host}: {reason}" for host, reason in reasons.items()) or "no host has joined"
    return Refused(f"no host of the fleet takes it: {told}", hint="acud fleet hosts", reason="no_host")


def _pause_s(attempt: int) -> float:
    return min(_AGAIN_S, _SOON_S * 2.0**attempt)


def _make_key(host: str, kind: str, name: str) -> str:
    return f"{host}.{kind}.{key_of(name)}"


def _request_key(request_id: str) -> str:
    return f"_.request.{key_of(request_id)}"  # no host is called so


def _has_moved(data: bytes) -> bool:
    place = parse_place(data)
    return place is not None and bool(place.moved_to)


def _is_written(stands: ObjectPlace, info: ObjectInfo) -> bool:
    """Return whether `info` is in the state that was written before."""
    try:
        told = codec.decode(stands.info, type(info))
    except InvalidRequest:  # nothing, or written by another version
        return False
    return _find_state(told) == _find_state(info) or (
        isinstance(told, WaitInfo) and told.state is not WaitState.WATCHING
    )


def _find_state(info: ObjectInfo) -> tuple[object, ...]:
    """Return the part that is written anew when it changes; the rest is as it was then."""
    if isinstance(info, WaitInfo):
        return info.state, info.spec, info.display, info.deadline_utc_s, len(info.stages)
    if isinstance(info, DisplayInfo):
        return info.number, info.state, info.reason, info.width, info.height, info.epoch, info.taken_by
    plan = tuple((item.title, item.status) for item in info.items)
    return msgspec.structs.replace(info.task, updated_at=0.0), plan


async def _skip_unproven(place: Awaitable[ObjectPlace | None]) -> ObjectPlace | None:
    """Return a place with a valid signature, else None: the reader has reported the fault."""
    try:
        return await place
    except Unavailable as fault:
        if fault.facts.get("reason") != "unproven":
            raise
        return None


def parse_place(data: bytes) -> ObjectPlace | None:
    try:
        return codec.decode(data, ObjectPlace)
    except InvalidRequest:
        return None


def read_info(place: ObjectPlace, of: type[Info]) -> Info | None:
    """Return an object's state as it was last written, None if that is not known."""
    if not place.info:
        return None
    try:
        return codec.decode(place.info, of)
    except InvalidRequest:  # written by another version
        return None


def _make_probe(kind: Kind, name: str) -> msgspec.Struct:
    """Return a read-only request for the wait, task, recording or run `name`. A host without it answers not_found."""
    if kind == "wait":
        return WaitShow(name, evaluations=0)
    if kind == "task":
        return TaskThread(name, limit=1)
    return RecordShow(name) if kind == "recording" else AgentResult(name, peek=True)


def _make_unsure(fault: AcudError, host: str) -> AcudError:
    if fault.facts.get("host") != host:
        return fault
    return OutcomeUnknown(
        f"host {host} was asked to start it, and then: {fault.message}",
        hint="repeat the request with the same id: it goes to the same host, and nothing is started twice",
        host=host,
    )


def _explain_refusal(member: Member, labels: Labels, *, needs_room: bool) -> str:
    if member.life is not Life.UP:
        return member.describe_absence()
    lacking = [f"{name}={value}" for name, value in labels.items() if member.state.labels.get(name) != value]
    if lacking:
        return f"not labelled {', '.join(lacking)}"
    if member.draining:
        return "is being drained"
    if needs_room and member.free == 0:
        return f"full: {member.state.displays} displays of {member.state.room}"
    return ""
