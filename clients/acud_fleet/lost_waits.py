"""Waits whose host is lost: ended at their deadline in its place, and their wakes sent; or armed again on another host.
Any number of endpoints may do so.

The bucket of places lets one of them end a wait (`Places`); all of them return that end to their blocked clients. An
endpoint that finds an end without a sent wake sends it: it has one id, so a repeat is dropped. A wait that is armed
again is ended in its host's place first, without a wake, then armed under its id; an endpoint that finds it ended and
not armed arms it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec.structs import replace

from acud.base import ids, log
from acud.base.errors import AcudError, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import ENDPOINT
from acud.protocol import codec
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import end_lost, end_rearmed, resume_wait, wake_of_lost
from acud.protocol.requests.fleet import FleetRearm
from acud.protocol.requests.waits import WaitResultReply
from acud.types import OnHostLost, Rearmed, WaitInfo, WaitState
from acud_client.call import DEFAULT_S
from acud_fleet.display_copies import DisplayCopies
from acud_fleet.envelopes import host_in, outward
from acud_fleet.host_client import HostClient, is_unanswered
from acud_fleet.places import Places, read_info
from acud_fleet.registry import Life, Member, Roster
from acud_fleet.wakes import publish_wake

_LOG = log.logger("fleet")
_LOOK_S = 1.0
"""At least so often the waits of lost hosts are listed: a wait may have been written in the last moment."""
_SOON_S = 0.02
_AGAIN_S = 10.0
_AT_ONCE = 32
_REMEMBERED = 20_000
Change = Callable[[ObjectPlace | None], ObjectPlace | None]
Told = Callable[[WaitInfo, str], None]
"""Called with each end that is seen, with displays named as outside, and the host."""


class LostWaits:
    """Looks after the waits of lost hosts."""

    def __init__(
        self, connection: NatsConnection, roster: Roster, places: Places, host_client: HostClient, on_wait_end: Told
    ) -> None:
        self._connection = connection
        self._roster = roster
        self._places = places
        self._host_client = host_client
        self._copies = DisplayCopies(host_client, roster, places)
        self._on_wait_end = on_wait_end
        self._due: dict[str, dict[str, float]] = {}
        """By lost host and wait, when to look at it again: at its deadline, at once, or never."""
        self._rearming: dict[tuple[str, str], asyncio.Task[float]] = {}
        """By wait and lost host. A display takes its time to start, and deadlines are kept meanwhile."""
        self._untaken: dict[str, str] = {}
        """By wait, why it is not armed again."""
        self._ended: OrderedDict[str, WaitResultReply] = OrderedDict()
        self._moved: OrderedDict[tuple[str, str], str] = OrderedDict()
        """By wait and lost host, the host on which it goes on."""
        self._changed = asyncio.Condition()

    async def run(self) -> None:
        """End what is due until cancelled."""
        try:
            while True:
                pause_s = await self._look_at_due()
                await asyncio.sleep(pause_s)
        finally:
            for task in self._rearming.values():
                task.cancel()
            await asyncio.gather(*self._rearming.values(), return_exceptions=True)

    async def until_ended(self, wait_id: str) -> WaitResultReply:
        """Return the end of a wait once it is ended in place of its host, which mostly never happens."""
        async with self._changed:
            await self._changed.wait_for(lambda: wait_id in self._ended)
        return self._ended[wait_id]

    async def until_moved(self, wait_id: str, host: str) -> str:
        """Return the host on which a wait of the lost `host` goes on, once it is armed there, which is rare."""
        key = wait_id, host
        async with self._changed:
            await self._changed.wait_for(lambda: key in self._moved)
        return self._moved[key]

    def find_end(self, wait_id: str) -> WaitInfo | None:
        """Return the end of a wait in place of its host, or None if none is known here."""
        reply = self._ended.get(wait_id)
        return None if reply is None else reply.wait

    async def end_all(self, member: Member) -> None:
        """End every live wait of a host that will not come back, and send their wakes; those that another host takes
        over are armed there. Raises: Unavailable.
        """
        reason = f"host {member.host} is forgotten and will not come back"
        for name in await self._places.names(member.host, "wait"):
            try:
                await self._end_for_good(member, name, reason)
            except Unavailable as fault:
                if fault.facts.get("reason") != "unproven":
                    raise

    async def _end_for_good(self, member: Member, wait_id: str, reason: str) -> None:
        place = await self._places.one(member.host, "wait", wait_id)
        info = None if place is None else read_info(place, WaitInfo)
        if place is None or info is None:
            return
        if info.state is WaitState.WATCHING:
            if _wants_another(info):
                await self._rearm_wait(member, info)
            await self._end_wait(member.host, wait_id, WaitState.FAILED, reason)
        elif place.by_fleet and not place.moved_to:
            await self._send_end(place)

    async def _look_at_due(self) -> float:
        """Look at all due waits, and return the seconds until the next is due."""
        try:
            members = self._roster.all()
        except Unavailable:  # living hosts are not known
            return _LOOK_S
        lost = [host for host, one in members.items() if one.life is Life.LOST]
        waits = await self._list_waits(lost) if self._roster.sure else {}
        self._due = {host: self._due.get(host, {}) for host in waits}
        for host, names in waits.items():
            await self._look_at(self._due[host], host, names)
        first = min((due for known in self._due.values() for due in known.values()), default=math.inf)
        return min(_LOOK_S, max(_SOON_S, first - time.time()))

    async def _list_waits(self, lost_hosts: list[str]) -> dict[str, list[str]]:
        """Return by host the ids of the waits that an endpoint must check: each wait of a lost host, and each wait that
        an endpoint ended on behalf of its host.
        """
        try:
            marked = await self._places.list_marked()
            return marked | {host: await self._places.names(host, "wait") for host in lost_hosts}
        except AcudError as fault:
            _LOG.warning("fleet.lost_waits_unread", hosts=lost_hosts, fault=fault.message)
            return {host: [] for host in self._due}

    async def _look_at(self, due_s: dict[str, float], host: str, names: list[str]) -> None:
        due = [name for name in names if due_s.get(name, 0.0) <= time.time()]
        for at in range(0, len(due), _AT_ONCE):
            some = due[at : at + _AT_ONCE]
            due_s.update(zip(some, await asyncio.gather(*(self._try_wait(host, one) for one in some)), strict=True))

    async def _try_wait(self, host: str, wait_id: str) -> float:
        """Do what is due for the wait, and return when to look at it again."""
        try:
            place = await self._places.one(host, "wait", wait_id)
            info = None if place is None else read_info(place, WaitInfo)
            if place is None:  # removed, or not read yet by the server that answers
                return time.time() + _AGAIN_S
            if info is None:
                return math.inf
            return await (self._go_on(place, info) if place.moved_to else self._settle_wait(place, info))
        except AcudError as fault:
            if fault.facts.get("reason") == "unproven":  # checked when it was read
                return time.time() + _AGAIN_S
            _LOG.warning("fleet.lost_wait_unsettled", wait=wait_id, host=host, fault=fault.message)
            return time.time() + _LOOK_S

    async def _settle_wait(self, place: ObjectPlace, info: WaitInfo) -> float:
        """End a wait that is due, or arm it elsewhere, unless its host came back meanwhile."""
        member = self._roster.all().get(place.host)
        if member is None or member.life is not Life.LOST:
            return time.time() + _AGAIN_S
        if place.by_fleet:
            await self._send_end(place)
            return math.inf
        if info.state is not WaitState.WATCHING:
            return math.inf
        if info.deadline_utc_s > time.time():
            return min(info.deadline_utc_s, self._begin_rearming(member, info) if _wants_another(info) else math.inf)
        why = self._untaken.pop(info.wait_id, "")
        reason = (
            f"{member.describe_absence()}; it could not be armed again: {why}" if why else member.describe_absence()
        )
        await self._end_wait(place.host, info.wait_id, WaitState.TIMEOUT, reason)
        return math.inf

    async def _end_wait(self, host: str, wait_id: str, state: WaitState, reason: str) -> None:
        """End a wait unless it was ended meanwhile, and send its wake. The mark comes first: a host that returns looks
        for marks.
        """

        def change(stands: ObjectPlace | None) -> ObjectPlace | None:
            info = None if stands is None else read_info(stands, WaitInfo)
            if stands is None or info is None or info.state is not WaitState.WATCHING:
                return None
            ended = end_lost(info, state, reason, time.time())
            return replace(stands, utc_s=time.time(), info=codec.encode_lean(ended), by_fleet=True)

        stands = await self._await_change(host, wait_id, change)
        if stands is not None and stands.by_fleet and not stands.moved_to:
            _LOG.info("fleet.wait_ended", wait=wait_id, host=host, state=state.value)
            await self._send_end(stands)

    async def _await_change(self, host: str, wait_id: str, change: Change) -> ObjectPlace | None:
        await self._places.mark_lost(host, wait_id)
        stands = await self._places.change_wait(host, wait_id, change)
        if stands is None or not stands.by_fleet:
            await self._places.unmark_lost(host, wait_id)
        return stands

    async def _send_end(self, place: ObjectPlace) -> None:
        """Report the end to callers that wait here, and send its wake unless that was done. Raises: Unavailable."""
        info = read_info(place, WaitInfo)
        if info is None:
            return
        await self._notify_end(info, place.host)
        if place.sent:
            return
        if info.spec.wake.routes != ():  # its agent fetches the result, and wants no wake
            stream = self._connection.names.stream("WAKES")
            await publish_wake(self._connection, wake_of_lost(info, place.host), ENDPOINT, stream)
        await self._places.change_wait(place.host, place.name, _mark_sent)

    async def _notify_end(self, info: WaitInfo, host: str) -> None:
        if info.wait_id in self._ended:
            return
        outside = outward(info, host)
        self._ended[info.wait_id] = WaitResultReply(outside, ended=True)
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)
        self._on_wait_end(outside, host)
        async with self._changed:
            self._changed.notify_all()

    # ---- armed again on another host ----

    def _begin_rearming(self, member: Member, info: WaitInfo) -> float:
        """Begin to arm a live wait of a lost host elsewhere; return when to look at it again."""
        key = info.wait_id, member.host
        task = self._rearming.get(key)
        if task is not None and task.done():
            return self._rearming.pop(key).result()
        if task is None:
            self._rearming[key] = asyncio.create_task(self._rearm_wait(member, info))
        return time.time() + _LOOK_S

    async def _rearm_wait(self, member: Member, info: WaitInfo) -> float:
        try:
            return await self._take_over(member, info)
        except AcudError as fault:
            if self._untaken.get(info.wait_id) != fault.message:
                _LOG.warning("fleet.wait_untaken", wait=info.wait_id, host=member.host, fault=fault.message)
            self._untaken[info.wait_id] = fault.message
            return time.time() + _AGAIN_S

    async def _take_over(self, member: Member, info: WaitInfo) -> float:
        copy = await self._copies.make(member, info.display)
        is_back = await self._roster.registry.holder(member.host) is not None
        place = None if is_back else await self._end_moved(member.host, info.wait_id, copy)
        ended = None if place is None else read_info(place, WaitInfo)
        if place is not None and ended is not None and place.moved_to:
            return await self._go_on(place, ended)
        if not await self._is_used(member, info, copy, is_back=is_back):
            await self._copies.remove(copy)
        return time.time() + _LOOK_S

    async def _is_used(self, member: Member, info: WaitInfo, copy: str, *, is_back: bool) -> bool:
        """Return whether a wait of the lost host went to this copy, or still may. An earlier loss may have led to
        another display of that name.
        """
        for place in await self._places.of(member.host, "wait"):
            other = read_info(place, WaitInfo)
            if other is None:
                continue
            if place.moved_to == copy and other.ended_utc_s > member.state.utc_s:
                return True
            is_live = other.state is WaitState.WATCHING and _wants_another(other) and other.display == info.display
            if is_live and not is_back:
                return True
        return False

    async def _end_moved(self, host: str, wait_id: str, copy: str) -> ObjectPlace | None:
        """End a wait in the place of `host`, because it goes on on `copy`, unless it ended; return what stands then."""

        def change(stands: ObjectPlace | None) -> ObjectPlace | None:
            info = None if stands is None else read_info(stands, WaitInfo)
            if stands is None or info is None or info.state is not WaitState.WATCHING:
                return None
            ended = end_rearmed(info, host, copy, time.time())
            return replace(stands, utc_s=time.time(), info=codec.encode_lean(ended), by_fleet=True, moved_to=copy)

        return await self._await_change(host, wait_id, change)

    async def _go_on(self, place: ObjectPlace, info: WaitInfo) -> float:
        """Arm a wait on the display that it was moved to, unless that is done; return when to look at it again."""
        if place.sent:
            await self._redirect_callers(place, info)
            return math.inf
        host, display = host_in(place.moved_to), place.moved_to.partition("/")[2]
        lost = (*(info.rearmed.lost if info.rearmed is not None else ()), place.host)
        times = info.created_utc_s, info.deadline_utc_s
        request = FleetRearm(info.wait_id, display, info.spec, *times, host, lost)
        request_id = ids.id_made_of("req", f"{info.wait_id} {place.moved_to}")
        try:
            reply = await self._host_client.ask(host, request, request_id, DEFAULT_S)
        except AcudError as fault:
            if is_unanswered(fault):
                return await self._handle_uncertain(place, info, request)
            return await self._handle_refusal(place, info, fault)
        await self._places.put(host, "wait", info.wait_id, reply.wait)
        _LOG.info("fleet.wait_rearmed", wait=info.wait_id, host=host, lost=place.host, display=display)
        return await self._redirect_wait(place, info)

    async def _redirect_wait(self, place: ObjectPlace, info: WaitInfo) -> float:
        await self._places.change_wait(place.host, place.name, _mark_sent)
        await self._redirect_callers(place, info)
        return math.inf

    async def _handle_uncertain(self, place: ObjectPlace, info: WaitInfo, request: FleetRearm) -> float:
        """Go on if it is not known whether a host did `request`: once it is lost as well, the wait counts as armed
        there, so that it moves on, or ends at its deadline.
        """
        host = request.host
        member = self._roster.all().get(host)
        if member is None or member.life is not Life.LOST:
            return time.time() + _LOOK_S
        await self._copies.store_recipe(place.host, info.display, place.moved_to)
        rearmed = Rearmed(time.time(), host, request.lost)
        live = replace(resume_wait(info, f"host {host} was lost over it"), display=request.display, rearmed=rearmed)
        await self._places.put(host, "wait", info.wait_id, live)
        return await self._redirect_wait(place, info)

    async def _handle_refusal(self, place: ObjectPlace, info: WaitInfo, fault: AcudError) -> float:
        """Go on after a host refused a wait: on another host; or, if the lost host is back and has ended the wait, to
        its end.
        """
        _LOG.warning("fleet.wait_refused", wait=info.wait_id, display=place.moved_to, fault=fault.message)
        member = self._roster.all().get(place.host)
        is_lost = member is not None and member.life is Life.LOST
        reason = f"host {place.host} was lost, and {place.moved_to} did not take the wait: {fault.message}"
        live = resume_wait(info, reason)

        def change(stands: ObjectPlace | None) -> ObjectPlace | None:
            if stands is None or stands.moved_to != place.moved_to or stands.sent:
                return None
            told = live if is_lost else end_lost(live, WaitState.FAILED, reason, time.time())
            return replace(stands, utc_s=time.time(), info=codec.encode_lean(told), by_fleet=not is_lost, moved_to="")

        stands = await self._await_change(place.host, place.name, change)
        if member is not None and is_lost:
            await self._copies.drop(member, info.display, place.moved_to)
        else:
            await self._copies.remove(place.moved_to)
        if stands is not None and stands.by_fleet and not stands.moved_to:
            await self._send_end(stands)
        return time.time() + _SOON_S

    async def _redirect_callers(self, place: ObjectPlace, info: WaitInfo) -> None:
        """Have callers that wait here go on with the wait's new host."""
        self._untaken.pop(info.wait_id, None)
        self._on_wait_end(outward(info, place.host), place.host)
        self._moved[info.wait_id, place.host] = await self._places.host_of("wait", info.wait_id, again=True)
        if len(self._moved) > _REMEMBERED:
            self._moved.popitem(last=False)
        async with self._changed:
            self._changed.notify_all()


def _wants_another(info: WaitInfo) -> bool:
    return info.spec.policy.on_host_lost is OnHostLost.REARM


def _mark_sent(stands: ObjectPlace | None) -> ObjectPlace | None:
    if stands is None or stands.sent or not stands.by_fleet:
        return None
    return replace(stands, sent=True)
