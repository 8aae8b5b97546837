"""What is still told of a host that is away: its tasks, waits and displays as they stood, marked."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from acud.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.fleet import Place
from acud.protocol.requests.wait_result import WaitResultReply
from acud.tasks.nouns import TaskView
from acud.types import DisplayInfo, DisplayState, WaitInfo, WaitState, unknown
from acud_fleet.outward import outward
from acud_fleet.places import Kind, Places
from acud_fleet.registry import Member

Info = TypeVar("Info", bound=msgspec.Struct)


class Marks:
    """Reads what hosts told of themselves, for those that are away."""

    def __init__(self, places: Places) -> None:
        self._places = places

    async def waits(self, member: Member) -> list[WaitInfo]:
        """Return the waits of a host that is away; live ones say that nobody watches for us now."""
        return [_wait(info, member) for info in await self._all(member, "wait", WaitInfo)]

    async def tasks(self, member: Member) -> list[TaskView]:
        """Return the tasks of a host that is away."""
        found = await self._all(member, "task", TaskView)
        return [msgspec.structs.replace(info, note=lost_words(member)) for info in found]

    async def displays(self, member: Member) -> list[DisplayInfo]:
        """Return the displays of a host that is away, as down."""
        found = await self._all(member, "display", DisplayInfo)
        return [
            msgspec.structs.replace(
                info, state=DisplayState.DOWN, reason=lost_words(member), frame_age_s=None, fps=0.0, is_default=False
            )
            for info in found
            if info.state is not DisplayState.ENDED
        ]

    async def wait(self, member: Member, wait_id: str) -> WaitResultReply | None:
        """Return one wait of a host that is away, None when it told nothing of it."""
        place = await self._places.one(member.host, "wait", wait_id)
        info = None if place is None else _info(place, WaitInfo)
        if info is None:
            return None
        marked = _wait(outward(info, member.host), member)
        return WaitResultReply(marked, marked.state is not WaitState.WATCHING)

    async def _all(self, member: Member, kind: Kind, of: type[Info]) -> list[Info]:
        places = await self._places.of(member.host, kind)
        return [outward(info, member.host) for place in places if (info := _info(place, of)) is not None]


def lost_words(member: Member) -> str:
    """Return the mark: `lost(host h2): …`."""
    return f"{member.life.value}(host {member.host}): {member.told()}; it goes on there when the host is back"


def _wait(info: WaitInfo, member: Member) -> WaitInfo:
    if info.state is not WaitState.WATCHING:
        return info  # it ended before, and that stands
    words = lost_words(member)
    return msgspec.structs.replace(info, note=words, verdict=unknown("host_lost", words))


def _info(place: Place, of: type[Info]) -> Info | None:
    if not place.info:
        return None
    try:
        return codec.decode(place.info, of)
    except InvalidRequest:  # told by another version
        return None
