"""One request to the fleet, answered: by one host, by all, or by the endpoint itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from acud.base import ids
from acud.base.errors import AcudError, Conflict, InvalidRequest, NotFound, Refused, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import HOST_LOST
from acud.protocol.requests.actions import ActionReply
from acud.protocol.requests.agents import RunReply
from acud.protocol.requests.command import FleetRoute, name_of
from acud.protocol.requests.fleet import (
    FleetDrain,
    FleetDrainReply,
    FleetHosts,
    FleetHostsReply,
    FleetPlace,
    FleetPlaceReply,
)
from acud.protocol.requests.gui import DoReply
from acud.protocol.requests.recordings import RecordReply
from acud.protocol.requests.tasks import TaskReply
from acud.protocol.requests.waits import WaitReply, WaitResult, WaitResultReply, WaitShow, WaitShowReply
from acud.types import WaitInfo, WaitState
from acud_client.call import DEFAULT_S, total_s
from acud_fleet.envelopes import ReadRequest, inward, outward
from acud_fleet.host_client import HostClient
from acud_fleet.lost_waits import LostWaits
from acud_fleet.merged_replies import MergedReplies
from acud_fleet.places import FIELDS, PlaceFinder, Placement, Places, choose, make_nowhere, read_info
from acud_fleet.registry import Life, Member, Roster, make_host_info
from acud_fleet.state_mirror import OfflineState, is_elsewhere

Own = TypeVar("Own", bound=Callable[..., Awaitable[Any]])
OWN: dict[str, Callable[..., Awaitable[Any]]] = {}
"""Requests answered here, by name; events and its own end are the endpoint's."""


def _answers(request: type[msgspec.Struct]) -> Callable[[Own], Own]:
    """Have the decorated method answer `request`, which is declared with `FleetRoute.ENDPOINT`."""

    def register(own: Own) -> Own:
        OWN[name_of(request)] = own
        return own

    return register


class RequestRouter:
    """Answers typed requests. Owns nothing; `run` of the parts it is made from is the endpoint's matter."""

    def __init__(
        self,
        connection: NatsConnection,
        roster: Roster,
        host_client: HostClient,
        places: Places,
        lost_waits: LostWaits,
        home: str,
    ) -> None:
        self._connection = connection
        self._roster = roster
        self._host_client = host_client
        self._places = places
        self._lost_waits = lost_waits
        self._offline = OfflineState(self._places)
        self._place_finder = PlaceFinder(host_client, roster, self._places)
        self._placement = Placement(host_client, roster, self._places)
        self._merged_replies = MergedReplies(host_client, roster, self._offline, time.time(), home, connection.warnings)

    async def reply(self, incoming: ReadRequest) -> Any:
        """Return the reply. Raises: what went wrong, with the host at fault in its facts."""
        request = incoming.request
        match incoming.spec.fleet:
            case FleetRoute.NEVER:
                raise Refused(
                    f"{incoming.spec.name} is not taken over the fleet", hint="ask the daemon on its own host"
                )
            case FleetRoute.ENDPOINT:
                return await OWN[incoming.spec.name](self, request)
            case FleetRoute.ALL:
                return await self._merged_replies.reply(request)
            case FleetRoute.PLACED:
                return await self._answer_start(incoming)
        if isinstance(request, WaitResult):
            return await self._answer_result(incoming, request)
        if isinstance(request, WaitShow):
            return await self._answer_show(incoming, request)
        return await self._ask_one(incoming)

    # ---- of the endpoint itself ----

    @_answers(FleetHosts)
    async def _answer_hosts(self, _: FleetHosts) -> FleetHostsReply:
        hosts = tuple(make_host_info(one) for one in self._roster.all().values())
        return FleetHostsReply(hosts, self._connection.server)

    @_answers(FleetPlace)
    async def _answer_place(self, request: FleetPlace) -> FleetPlaceReply:
        if request.name:
            return FleetPlaceReply(await self._place_finder.any_host_of(request.name))
        members = list(self._roster.all().values())
        best, others = choose(members, request.labels, needs_room=True, passed_over={})
        if best is None:
            raise make_nowhere(others)
        return FleetPlaceReply(best.host, others)

    @_answers(FleetDrain)
    async def _answer_drain(self, request: FleetDrain) -> FleetDrainReply:
        member = self._roster.all().get(request.host)
        if member is None:
            raise NotFound(f"no host {request.host!r} in this fleet", hint="acud fleet hosts")
        if request.action != "forget":
            await self._roster.registry.drain(request.host, on=request.action == "drain")
        elif member.life is Life.UP:
            raise Conflict(f"host {request.host} lives", hint="end its daemon first; acud fleet drain empties it")
        else:
            await self._lost_waits.end_all(member)
            await self._places.forget(request.host)
            await self._roster.registry.forget(request.host)
        await self._roster.read_members()
        return FleetDrainReply(make_host_info(member))

    # ---- of one host ----

    async def _ask_one(self, incoming: ReadRequest) -> Any:
        request, named = inward(incoming.request)
        host = await self._find_host(incoming, request, named)
        try:
            reply = await self._host_client.ask(host, request, incoming.request_id, _within_s(request))
        except AcudError:
            moved = await self._find_moved(getattr(request, "wait_id", ""), host)
            if not moved:
                raise
            host, reply = moved, await self._host_client.ask(moved, request, incoming.request_id, _within_s(request))
        return await self._note_place(host, outward(reply, host), reply)

    async def _find_moved(self, wait_id: str, host: str) -> str:
        """Return the host on which a wait goes on that was armed again since it was known to be on `host`, else ""."""
        found = await self._places.host_of("wait", wait_id, again=True) if wait_id else ""
        return found if found != host else ""

    async def _find_host(self, incoming: ReadRequest, request: Any, named: set[str]) -> str:
        hosts = set(named)
        for field, kind in FIELDS.items():
            name = getattr(request, field, "")
            if name:
                hosts.add(await self._place_finder.host_of(kind, name))
        if len(hosts) > 1:
            raise InvalidRequest(f"{incoming.spec.name} names things on several hosts: {', '.join(sorted(hosts))}")
        if hosts:
            return hosts.pop()
        return self._find_only(incoming.spec.name)

    def _find_only(self, name: str) -> str:
        """Return the one host that there is. Raises: InvalidRequest when there are several."""
        members = [one for one in self._roster.all().values() if one.life is not Life.LEFT]
        if len(members) == 1:
            return members[0].host
        if not members:
            raise Unavailable("no host has joined this fleet", hint="[fleet] url in its acud.toml; acud fleet hosts")
        raise InvalidRequest(
            f"{name} is for one host, and names none of {', '.join(one.host for one in members)}",
            hint="name a task, or a display as host/:100; what belongs to a daemon is asked on its own host",
        )

    async def _answer_start(self, incoming: ReadRequest) -> Any:
        host, reply = await self._placement.start(incoming.request, incoming.request_id, _within_s(incoming.request))
        return await self._note_place(host, outward(reply, host), reply)

    async def _note_place(self, host: str, reply: Any, inner: Any) -> Any:
        """Note where the new object lives, before any client knows of it: its host may be lost the next moment."""
        if isinstance(inner, ActionReply | DoReply) and inner.wait is not None:
            await self._places.put(host, "wait", inner.wait.wait.wait_id, inner.wait.wait)
        elif isinstance(inner, WaitReply):
            await self._places.put(host, "wait", inner.wait.wait_id, inner.wait)
        elif isinstance(inner, TaskReply):
            await self._places.put(host, "task", inner.view.task.task_id, inner.view)
        elif isinstance(inner, RunReply):
            await self._places.put(host, "run", inner.run.run_id)
        elif isinstance(inner, RecordReply):
            await self._places.put(host, "recording", inner.recording.recording_id)
        return reply

    # ---- of waits, also those of a host that is away ----

    async def _answer_result(self, incoming: ReadRequest, request: WaitResult) -> WaitResultReply:
        host = await self._place_finder.host_of("wait", request.wait_id)
        # Two tasks and a wait for either are a fifth of what the endpoint computes for a request that does not block.
        reply = await (self._answer_blocking if request.block_s else self._ask_host)(incoming, request, host)
        if reply.ended and reply.wait.verdict.code == HOST_LOST and not request.peek:
            await self._note_fetched(await self._place_finder.host_of("wait", reply.wait.wait_id), reply.wait.wait_id)
        return reply

    async def _answer_blocking(self, incoming: ReadRequest, request: WaitResult, host: str) -> WaitResultReply:
        """Return the host's answer, or the end of the wait once the fleet ends it in place of the host."""
        tasks = (
            asyncio.ensure_future(self._lost_waits.until_ended(request.wait_id)),
            asyncio.ensure_future(self._ask_host(incoming, request, host)),
        )
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return next(task for task in tasks if task.done()).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _note_fetched(self, host: str, wait_id: str) -> None:
        """Note that the fleet's end was fetched: the wake that its host may still hold is not needed."""
        try:
            await self._host_client.ask(host, WaitResult(wait_id), ids.new_id("req"), DEFAULT_S)
        except AcudError:  # it learns that on its return
            await self._places.change_wait(host, wait_id, _mark_seen)

    async def _ask_host(self, incoming: ReadRequest, request: WaitResult, host: str) -> WaitResultReply:
        end_s = time.monotonic() + request.block_s
        request_id = incoming.request_id
        while True:
            left_s = max(0.0, end_s - time.monotonic())
            question = msgspec.structs.replace(request, block_s=left_s)
            try:
                reply = await self._host_client.ask(host, question, request_id, left_s + DEFAULT_S)
                stands = await self._settle_end(host, reply.wait)
                if not is_elsewhere(stands):
                    reply = reply if stands is reply.wait else WaitResultReply(stands, ended=True)
                    told: WaitResultReply = outward(reply, host)
                    return told
                fault: AcudError | None = None
            except (NotFound, Unavailable) as unanswered:
                fault = unanswered
            moved = await self._find_moved(request.wait_id, host)
            if not moved:
                marked = await self._find_marked(fault, host, request.wait_id)
                is_lost = fault is not None
                moved = "" if marked.ended else await self._wait_for_host(host, request.wait_id, end_s, is_lost=is_lost)
                if not moved:
                    return marked
            host, request_id = moved, ids.new_id("req")  # the time to block is another, and so is the request

    async def _wait_for_host(self, host: str, wait_id: str, end_s: float, *, is_lost: bool) -> str:
        """Return a host that can be asked about a wait of `host`, once there is one; "" if there was none until
        `end_s`. If `host` itself is up, it has reported that the wait goes on elsewhere.
        """
        left_s = max(0.0, end_s - time.monotonic())
        up = asyncio.ensure_future(self._roster.until_up(host, left_s) if is_lost else asyncio.sleep(left_s, False))
        moved = asyncio.ensure_future(self._lost_waits.until_moved(wait_id, host))
        try:
            await asyncio.wait((up, moved), return_when=asyncio.FIRST_COMPLETED)
            if moved.done():
                return moved.result()
            return host if up.result() else ""
        finally:
            up.cancel()
            moved.cancel()
            await asyncio.gather(up, moved, return_exceptions=True)

    async def _settle_end(self, host: str, info: WaitInfo) -> WaitInfo:
        """Return a wait as clients get it, from its host's report. An end is returned once it is written, for then it
        is final; an earlier end of the fleet stands. Raises: Unavailable.
        """
        told = self._lost_waits.find_end(info.wait_id)
        if told is not None or info.state is WaitState.WATCHING:
            return told or info
        stands = await self._places.put(host, "wait", info.wait_id, info)
        return (read_info(stands, WaitInfo) if stands.by_fleet else None) or info

    async def _find_marked(self, fault: AcudError | None, host: str, wait_id: str) -> WaitResultReply:
        """Return what is known of a wait whose host gave no answer (`fault`), or reported that it goes on elsewhere
        while it is armed nowhere yet.
        """
        member = self._roster.all().get(host)
        if fault is None:
            marked = await self._offline.wait(member, wait_id) if member is not None else None
            if marked is None:
                raise NotFound(f"nothing is told of wait {wait_id}", hint="acud --fleet wait list --all")
            return marked
        if isinstance(fault, NotFound):  # the host was forgotten, or it forgot the wait
            told = await self._offline.find_end(host, wait_id)
            if told is None:
                raise fault
            return WaitResultReply(outward(told, host), ended=True)
        if fault.facts.get("host") != host or member is None:
            raise fault
        marked = await self._offline.wait(_mark_away(member), wait_id)
        if marked is None:
            raise fault
        return marked

    async def _answer_show(self, incoming: ReadRequest, request: WaitShow) -> WaitShowReply:
        host = await self._place_finder.host_of("wait", request.wait_id)
        try:
            reply = await self._host_client.ask(host, request, incoming.request_id, DEFAULT_S)
            stands = await self._settle_end(host, reply.wait)
            if not is_elsewhere(stands):
                told: WaitShowReply = outward(msgspec.structs.replace(reply, wait=stands), host)
                return told
            fault: AcudError | None = None
        except (NotFound, Unavailable) as unanswered:
            fault = unanswered
        if await self._find_moved(request.wait_id, host):
            return await self._answer_show(incoming, request)
        marked = await self._find_marked(fault, host, request.wait_id)
        return WaitShowReply(marked.wait, ())


def _mark_seen(stands: ObjectPlace | None) -> ObjectPlace | None:
    if stands is None or stands.seen or not stands.by_fleet:
        return None
    return msgspec.structs.replace(stands, seen=True)


def _mark_away(member: Member) -> Member:
    """Return a host that did not answer as lost, also before its lease has run out."""
    return member if member.life is not Life.UP else msgspec.structs.replace(member, life=Life.LOST)


def _within_s(request: msgspec.Struct) -> float:
    return total_s(request, DEFAULT_S)
