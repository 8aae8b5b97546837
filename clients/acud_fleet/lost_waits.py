"""Waits whose host is lost: ended at their deadline in its place, and their wakes sent. Any number of endpoints may.

The bucket of places lets one of them end a wait (`Places`); all of them tell that end to whoever blocks on it. Whoever
finds an end whose wake was not sent yet sends it: it has one id, so a repeat is dropped.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec.structs import replace

from acud import log
from acud.errors import AcudError, Unavailable
from acud.features.fleet.connection import NatsConnection
from acud.features.fleet.names import ENDPOINT
from acud.protocol import codec
from acud.protocol.fleet import ObjectPlace
from acud.protocol.fleet_ends import end_lost, wake_of_lost
from acud.protocol.requests.waits import WaitResultReply
from acud.types import WaitInfo, WaitState
from acud_fleet.envelopes import outward
from acud_fleet.places import Places, mirrored_info
from acud_fleet.registry import Life, Member, Roster
from acud_fleet.wakes import publish_wake

_LOG = log.logger("fleet")
_LOOK_S = 1.0
"""At least so often the waits of lost hosts are listed: a wait may have been told of in the last moment."""
_SOON_S = 0.02
_AGAIN_S = 10.0
_AT_ONCE = 32
_REMEMBERED = 20_000
Told = Callable[[WaitInfo, str], None]
"""Hears of each end that is seen, with displays named as outside, and the host."""


class LostWaits:
    """Looks after the waits of lost hosts."""

    def __init__(self, connection: NatsConnection, roster: Roster, places: Places, told: Told) -> None:
        self._connection = connection
        self._roster = roster
        self._places = places
        self._told = told
        self._due: dict[str, dict[str, float]] = {}
        """By lost host and wait, when to look at it again: at its deadline, at once, or never."""
        self._ended: OrderedDict[str, WaitResultReply] = OrderedDict()
        self._changed = asyncio.Condition()

    async def run(self) -> None:
        """End what is due until cancelled."""
        while True:
            pause_s = await self._look()
            await asyncio.sleep(pause_s)

    async def until_ended(self, wait_id: str) -> WaitResultReply:
        """Return the end of a wait once it is ended in the place of its host, which it mostly never is."""
        async with self._changed:
            await self._changed.wait_for(lambda: wait_id in self._ended)
        return self._ended[wait_id]

    def ended(self, wait_id: str) -> WaitInfo | None:
        """Return how a wait was ended in the place of its host, None where it was not as far as is known here."""
        reply = self._ended.get(wait_id)
        return None if reply is None else reply.wait

    async def end_all(self, member: Member) -> None:
        """End every live wait of a host that will not come back, and send their wakes. Raises: Unavailable."""
        reason = f"host {member.host} is forgotten and will not come back"
        for name in await self._places.names(member.host, "wait"):
            await self._settle(member.host, name, WaitState.FAILED, reason)

    async def _look(self) -> float:
        """Look at all that is due, and return how long nothing more is."""
        try:
            members = self._roster.all()
        except Unavailable:  # who lives can't be told
            return _LOOK_S
        lost = {host: one for host, one in members.items() if one.life is Life.LOST and self._roster.sure}
        self._due = {host: known for host, known in self._due.items() if host in lost}
        for member in lost.values():
            try:
                await self._look_at(member)
            except AcudError as fault:
                _LOG.warning("fleet.lost_waits_unread", host=member.host, fault=fault.message)
        first = min((due for known in self._due.values() for due in known.values()), default=math.inf)
        return min(_LOOK_S, max(_SOON_S, first - time.time()))

    async def _look_at(self, member: Member) -> None:
        known = self._due.setdefault(member.host, {})
        names = await self._places.names(member.host, "wait")
        due = [name for name in names if known.get(name, 0.0) <= time.time()]
        for at in range(0, len(due), _AT_ONCE):
            some = due[at : at + _AT_ONCE]
            known.update(zip(some, await asyncio.gather(*(self._tried(member, one) for one in some)), strict=True))

    async def _tried(self, member: Member, wait_id: str) -> float:
        """End the wait if it is due and its host did not come back meanwhile; return when to look at it again."""
        try:
            now = self._roster.all().get(member.host)
            if now is None or now.life is not Life.LOST:
                return time.time() + _LOOK_S
            return await self._settle(member.host, wait_id, WaitState.TIMEOUT, member.told())
        except AcudError as fault:
            _LOG.warning("fleet.lost_wait_unsettled", wait=wait_id, host=member.host, fault=fault.message)
            return time.time() + _LOOK_S

    async def _settle(self, host: str, wait_id: str, state: WaitState, reason: str) -> float:
        place = await self._places.one(host, "wait", wait_id)
        info = None if place is None else mirrored_info(place, WaitInfo)
        if place is None:  # removed, or not read yet by the server that answers
            return time.time() + _AGAIN_S
        if info is None:
            return math.inf
        if not place.by_fleet:
            if info.state is not WaitState.WATCHING:
                return math.inf
            if state is WaitState.TIMEOUT and info.deadline_utc_s > time.time():
                return info.deadline_utc_s
            place = await self._end(host, wait_id, state, reason)
        if place is not None and place.by_fleet:
            await self._send(place)
        return math.inf

    async def _end(self, host: str, wait_id: str, state: WaitState, reason: str) -> ObjectPlace | None:
        """End a wait unless somebody did meanwhile; return what stands. The mark comes first: a host that returns looks
        for marks.
        """

        def change(stands: ObjectPlace | None) -> ObjectPlace | None:
            info = None if stands is None else mirrored_info(stands, WaitInfo)
            if stands is None or info is None or info.state is not WaitState.WATCHING:
                return None
            ended = end_lost(info, state, reason, time.time())
            return replace(stands, utc_s=time.time(), info=codec.encode(ended), by_fleet=True)

        await self._places.mark_lost(host, wait_id)
        stands = await self._places.change_wait(host, wait_id, change)
        if stands is None or not stands.by_fleet:
            await self._places.unmark_lost(host, wait_id)
        else:
            _LOG.info("fleet.wait_ended", wait=wait_id, host=host, state=state.value)
        return stands

    async def _send(self, place: ObjectPlace) -> None:
        """Tell the end to those who wait here, and send its wake unless that was done. Raises: Unavailable."""
        info = mirrored_info(place, WaitInfo)
        if info is None:
            return
        await self._tell(info, place.host)
        if place.sent:
            return
        if info.spec.wake.routes != ():  # its agent fetches the result, and wants no wake
            stream = self._connection.names.stream("WAKES")
            await publish_wake(self._connection, wake_of_lost(info, place.host), ENDPOINT, stream)
        await self._places.change_wait(place.host, place.name, _sent)

    async def _tell(self, info: WaitInfo, host: str) -> None:
        if info.wait_id in self._ended:
            return
        outside = outward(info, host)
        self._ended[info.wait_id] = WaitResultReply(outside, ended=True)
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)
        self._told(outside, host)
        async with self._changed:
            self._changed.notify_all()


def _sent(stands: ObjectPlace | None) -> ObjectPlace | None:
    if stands is None or stands.sent or not stands.by_fleet:
        return None
    return replace(stands, sent=True)
