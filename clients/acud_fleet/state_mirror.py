"""The state of a host's tasks, waits and displays, written to the fleet, and read from there while the host is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

import msgspec

from acud.base import log
from acud.base.errors import AcudError, NotFound, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.signatures import Signed
from acud.protocol import codec
from acud.protocol.events import Event
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import HOST_LOST, REARMED, end_for_host, resume_wait
from acud.protocol.requests.waits import WaitResultReply
from acud.types import DisplayInfo, DisplayState, OnHostLost, WaitInfo, WaitState, unknown
from acud.types.tasks import TaskView
from acud_client.aio import AsyncClient
from acud_fleet.envelopes import host_in, outward
from acud_fleet.places import Kind, Places, read_info
from acud_fleet.registry import Member

_LOG = log.logger("fleet")
_AGAIN_S = 1.0
PAGE = 200
_OVERLAP = 20
_AT_ONCE = 32
"""Ends in one request: each may quote a long condition."""
_QUIET = ("wait.judged", "wait.note", "display.geometry", "display.taken", "display.released")
"""Events that need no new record of their subject."""
Thing = tuple[Kind, str]
Info = TypeVar("Info", bound=msgspec.Struct)


class StateMirror:
    """Follows the events of the daemon behind `client`, the daemon of `host`."""

    def __init__(self, host: str, connection: NatsConnection, client: AsyncClient) -> None:
        self._host = host
        self._connection = connection
        self._client = client
        self._places = Places(connection)
        self._changed: set[Thing] = set()
        self._woken = asyncio.Event()
        self.told = 0

    async def run(self) -> None:
        """Write until cancelled: what lives now, then what changes."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_daemon())
            group.create_task(self._write_changed())
            group.create_task(self._rewrite_after_revocations())

    async def _follow_daemon(self) -> None:
        async with self._client.events() as stream:
            await self._mark_all_changed()
            async for event in stream:
                if isinstance(event, Event):
                    self._note_changed(event)
                    await self._publish_unstored(event)
                else:
                    await self._mark_all_changed()

    async def _rewrite_after_revocations(self) -> None:
        """Write all anew when a key was revoked: its signatures count no more."""
        while True:
            await self._connection.signatures.wait_for_revocation()
            await self._mark_all_changed()

    async def _publish_unstored(self, event: Event) -> None:
        # Stored ones go into the stream (`EventForwarder`), which is published on their subjects as well.
        if event.n or not self._connection.connected:
            return
        try:
            with self._connection.translate_faults("event"):
                subject, body = self._connection.names.unstored_event(self._host, event.topic), codec.encode(event)
                headers = self._connection.signatures.header(Signed.TOLD, subject, body)
                await self._connection.nats.publish(subject, body, headers=headers or None)
                self.told += 1
        except Unavailable as fault:
            _LOG.warning("fleet.event_unsent", topic=event.topic, n=event.n, fault=fault.message)

    # ---- ends ----

    async def take_ends(self) -> None:
        """Have the daemon end the waits that the fleet ended while this host was lost. Raises: the fault of the daemon
        or the servers; nothing was written then that is not written again.
        """
        ends = await self._places.confirmed_ends(self._host)
        waits = [
            end_for_host(info, sent=place.sent, seen=place.seen)
            for place in ends
            if (info := read_info(place, WaitInfo)) is not None
        ]
        pending = {place.name for place in ends if place.moved_to and not place.sent}
        """Those that an endpoint has still to arm elsewhere: it finds them by their marks."""
        otherwise: set[str] = set()
        for at in range(0, max(1, len(waits)), _AT_ONCE):
            more = at + _AT_ONCE < len(waits)
            reply = await self._client.fleet_lost_waits(waits=waits[at : at + _AT_ONCE], more=more)
            otherwise.update(reply.otherwise)
        for wait in waits:
            if wait.wait_id not in otherwise | pending:
                await self._places.unmark_lost(self._host, wait.wait_id)
        if waits:
            _LOG.info("fleet.ends_taken", waits=len(waits), otherwise=len(otherwise))

    async def write_end(self, wait_id: str) -> ObjectPlace | None:
        """Write the end of a wait, before its wake is sent; return an earlier end by the fleet, None for none.

        Raises: Unavailable.
        """
        try:
            reply = await self._client.wait_result(wait_id, peek=True)
        except NotFound:  # it is kept no more
            return None
        stands = await self._places.put(self._host, "wait", reply.wait.wait_id, reply.wait)
        return stands if stands.by_fleet else None

    # ---- places ----

    def _note_changed(self, event: Event) -> None:
        kind = event.topic.partition(".")[0]
        if event.topic in _QUIET:
            return
        if kind == "wait":
            self._mark_changed(("wait", event.subject))
        elif kind == "task":
            self._mark_changed(("task", event.subject))
        elif kind == "display":
            self._mark_changed(("display", event.subject))

    def _mark_changed(self, *things: Thing) -> None:
        self._changed.update(things)
        self._woken.set()

    async def _mark_all_changed(self) -> None:
        waits = await every(self._list_waits)
        tasks = await every(self._list_tasks)
        displays = (await self._client.display_list()).displays
        self._mark_changed(*(("wait", name) for name in waits))
        self._mark_changed(*(("task", name) for name in tasks))
        self._mark_changed(*(("display", one.name) for one in displays))
        for kind in ("wait", "task", "display"):
            self._mark_changed((kind, ""))  # also what stands in the bucket of an earlier run

    async def _list_waits(self, offset: int) -> list[str]:
        return [one.wait_id for one in (await self._client.wait_list(limit=PAGE, offset=offset)).waits]

    async def _list_tasks(self, offset: int) -> list[str]:
        return [one.task.task_id for one in (await self._client.task_list(limit=PAGE, offset=offset)).tasks]

    async def _write_changed(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            things, self._changed = self._changed, set()
            try:
                while things:
                    await self._write_things(*next(iter(things)), things)
            except AcudError as fault:
                _LOG.warning("fleet.places_unwritten", left=len(things), fault=fault.message)
                self._mark_changed(*things)
                await asyncio.sleep(_AGAIN_S)

    async def _write_things(self, kind: Kind, name: str, things: set[Thing]) -> None:
        if not name:
            things.update((kind, told) for told in await self._places.list_names(self._host, kind))
        elif kind == "wait":
            await self._write_wait(name)
        elif kind == "task":
            await self._write_task(name)
        else:
            await self._write_display(name)
        things.discard((kind, name))

    async def _write_wait(self, wait_id: str) -> None:
        try:
            reply = await self._client.wait_result(wait_id, peek=True)
        except NotFound:
            if not await self._places.is_ended(self._host, wait_id):
                await self._places.remove(self._host, "wait", wait_id)
            return
        wait = reply.wait
        if wait.display and wait.spec.policy.on_host_lost is OnHostLost.REARM:
            await self._write_display(wait.display)
        await self._places.put(self._host, "wait", wait.wait_id, wait)

    async def _write_task(self, task_id: str) -> None:
        found = (await self._client.task_list(ended=True, tasks=[task_id])).tasks
        if found:
            await self._places.put(self._host, "task", task_id, found[0])
        else:
            await self._places.remove(self._host, "task", task_id)

    async def _write_display(self, name: str) -> None:
        found = [one for one in (await self._client.display_list()).displays if one.name == name]
        if found:
            recipe = (await self._client.fleet_recipe(name)).recipe if found[0].managed else None
            await self._places.put(self._host, "display", name, found[0], recipe)
        else:
            await self._places.remove(self._host, "display", name)


async def every(ask: Callable[[int], Awaitable[list[str]]]) -> list[str]:
    """Return the ids of a list, in pages by `ask`, each from an offset on and `PAGE` long. Pages overlap, so that what
    leaves the list meanwhile hides nothing; where more left it than that, all is read again.
    """
    found: dict[str, None] = {}
    while True:
        at = max(0, len(found) - _OVERLAP)
        page = await ask(at)
        if at and page and page[0] not in found:
            found.clear()
            continue
        found.update(dict.fromkeys(page))
        if len(page) < PAGE:
            return list(found)


class OfflineState:
    """Reads what hosts that are away had recorded."""

    def __init__(self, places: Places) -> None:
        self._places = places

    async def waits(self, member: Member) -> list[WaitInfo]:
        """Return the waits of a host that is away, but for those that were armed again elsewhere; live ones note that
        they are not watched now.
        """
        found = [_describe_wait(place, member) for place in await self._places.of(member.host, "wait")]
        return [outward(info, member.host) for info in found if info is not None and not is_elsewhere(info)]

    async def tasks(self, member: Member) -> list[TaskView]:
        """Return the tasks of a host that is away."""
        found = await self._read_infos(member, "task", TaskView)
        return [msgspec.structs.replace(info, note=lost_words(member)) for info in found]

    async def displays(self, member: Member) -> list[DisplayInfo]:
        """Return the displays of a host that is away, as down."""
        found = await self._read_infos(member, "display", DisplayInfo)
        return [
            msgspec.structs.replace(
                info, state=DisplayState.DOWN, reason=lost_words(member), frame_age_s=None, fps=0.0, is_default=False
            )
            for info in found
            if info.state is not DisplayState.ENDED
        ]

    async def wait(self, member: Member, wait_id: str) -> WaitResultReply | None:
        """Return one wait of a host that is away, None if there is no record."""
        place = await self._places.one(member.host, "wait", wait_id)
        info = None if place is None else _describe_wait(place, member)
        if info is None:
            return None
        return WaitResultReply(outward(info, member.host), info.state is not WaitState.WATCHING)

    async def find_end(self, host: str, wait_id: str) -> WaitInfo | None:
        """Return the end that the fleet gave a wait in place of `host`, None for none."""
        place = await self._places.one(host, "wait", wait_id)
        return None if place is None or not place.by_fleet else read_info(place, WaitInfo)

    async def find_ends(self, hosts: Collection[str]) -> dict[tuple[str, str], WaitInfo]:
        """Return the ends that the fleet gave to waits of hosts that are back and had ended them otherwise, by host and
        wait.
        """
        return {
            (place.host, place.name): outward(info, place.host)
            for place in await self._places.read_lost_ends()
            if place.host in hosts and (info := read_info(place, WaitInfo)) is not None
        }

    async def _read_infos(self, member: Member, kind: Kind, of: type[Info]) -> list[Info]:
        places = await self._places.of(member.host, kind)
        return [outward(info, member.host) for place in places if (info := read_info(place, of)) is not None]


def lost_words(member: Member) -> str:
    """Return the mark: `lost(host h2): …`."""
    return (
        f"{member.life.value}(host {member.host}): {member.describe_absence()}; it goes on there when the host is back"
    )


def is_elsewhere(info: WaitInfo) -> bool:
    """Return whether this is the end of a wait that goes on on another host."""
    return info.verdict.code == REARMED


def _describe_wait(place: ObjectPlace, member: Member) -> WaitInfo | None:
    info = read_info(place, WaitInfo)
    if info is None:
        return None
    if place.moved_to and not place.sent:
        return resume_wait(
            info, f"host {member.host} was lost; it is being armed again on host {host_in(place.moved_to)}"
        )
    if info.state is not WaitState.WATCHING:
        return info  # it ended before, and that stands
    words = lost_words(member)
    return msgspec.structs.replace(info, note=words, verdict=unknown(HOST_LOST, words))
