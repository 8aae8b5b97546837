"""Displays of lost hosts made again on others: as they were made, with the programs that were launched on them.

Any number of endpoints may ask for the same copy. Their requests have ids derived from the lost display, so a display
is made once, and each program is started once.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from acud.base import ids, log
from acud.base.errors import AcudError, NotFound, Refused
from acud.protocol.requests.actions import DesktopAction
from acud.protocol.requests.displays import DisplayCreate, DisplayRemove
from acud.protocol.requests.fleet import DisplayRecipe
from acud.types import DisplayInfo
from acud_client.call import DEFAULT_S, total_s
from acud_fleet.envelopes import host_in, inward
from acud_fleet.host_client import HostClient, is_unanswered
from acud_fleet.places import Placement, Places, read_info
from acud_fleet.registry import Life, Member, Roster

_LOG = log.logger("fleet")
_LAUNCH_S = 1.0
"""A program is watched for half a second before the next one is started."""
_PASSED = "!"
"""Before a host's name in the place of a request: the copy could not be made there, and another host is next."""


class DisplayCopies:
    """Copies a lost host's displays to hosts that have room and what the display needs."""

    def __init__(self, host_client: HostClient, roster: Roster, places: Places) -> None:
        self._host_client = host_client
        self._roster = roster
        self._places = places
        self._placement = Placement(host_client, roster, places)
        self._locks: dict[str, asyncio.Lock] = {}
        self._made: dict[str, str] = {}

    async def make(self, member: Member, display: str) -> str:
        """Return the copy (`h2/:100`) of a display of the lost `member`, which is made unless it is there.

        Raises: NotFound if its recipe is not known; Refused where no host would take it, with each one's reason;
        what went wrong, where it is worth another try.
        """
        place = await self._places.one(member.host, "display", display)
        if place is None or place.recipe is None:
            raise NotFound(f"host {member.host} did not tell what makes display {display} again")
        lost = _make_loss_id(member, display)
        async with self._locks.setdefault(lost, asyncio.Lock()):
            if lost not in self._made:
                self._made[lost] = await self._make_copy(lost, member.host, place.recipe)
            return self._made[lost]

    async def drop(self, member: Member, display: str, copy: str) -> None:
        """Remove a copy that did not do; the next one is made on another host."""
        lost = _make_loss_id(member, display)
        self._made.pop(lost, None)
        request_id, passed = await self._find_attempt(lost)
        if host_in(copy) not in passed:
            await self._pass_host(request_id, host_in(copy))
        await self.remove(copy)

    async def store_recipe(self, host: str, display: str, copy: str) -> None:
        """Store the recipe of a copy of `display` of the lost `host`, in case the copy's host is lost first."""
        copied = await self._places.one(host, "display", display)
        to, name = host_in(copy), copy.partition("/")[2]
        stands = await self._places.one(to, "display", name)
        if copied is None or copied.recipe is None or (stands is not None and stands.recipe is not None):
            return
        info = None if stands is None else read_info(stands, DisplayInfo)
        recipe = replace(copied.recipe, lost=(*copied.recipe.lost, host))
        await self._places.put(to, "display", name, info, recipe)

    async def remove(self, copy: str) -> None:
        """Remove a copy, unless waits look at it; where its host does not answer, it stays."""
        request, _ = inward(DisplayRemove(copy))
        try:
            await self._host_client.ask(host_in(copy), request, ids.new_id("req"), total_s(request, DEFAULT_S))
        except AcudError as fault:
            _LOG.info("fleet.copy_left", display=copy, fault=fault.message)

    async def _make_copy(self, lost: str, host: str, recipe: DisplayRecipe) -> str:
        while True:
            request_id, passed = await self._find_attempt(lost)
            unasked = (one.host for one in self._roster.all().values() if not one.state.rearm)
            passed_over = dict.fromkeys(unasked, "takes no waits of others in ([fleet] rearm)")
            passed_over |= dict.fromkeys((host, *recipe.lost), "the wait was there before")
            passed_over |= dict.fromkeys(passed, "the display could not be made again there")
            try:
                return await self._try_attempt(request_id, recipe, passed_over)
            except AcudError as fault:
                if isinstance(fault, Refused) and fault.facts.get("reason") == "no_host":
                    raise
                failed = fault
            at = (await self._places.find_assigned(request_id)).host
            if not at or (is_unanswered(failed) and not self._is_away(at)):
                raise failed
            _LOG.warning("fleet.copy_failed", host=at, of=host, fault=failed.message)
            await self._pass_host(request_id, at)

    async def _try_attempt(self, request_id: str, recipe: DisplayRecipe, passed_over: dict[str, str]) -> str:
        asked = DisplayCreate(recipe.width, recipe.height, recipe.window_manager, recipe.labels)
        host, reply = await self._placement.start(asked, request_id, total_s(asked, DEFAULT_S), passed_over)
        name = reply.display.name
        if recipe.programs:
            launch = DesktopAction(recipe.programs, display=name)
            within_s = total_s(launch, DEFAULT_S) + _LAUNCH_S * len(recipe.programs)
            try:
                await self._host_client.ask(host, launch, ids.id_made_of("req", f"{request_id} launch"), within_s)
            except AcudError as fault:
                if not is_unanswered(fault):  # else it is asked again, and starts none twice
                    await self.remove(f"{host}/{name}")
                raise
        _LOG.info("fleet.display_copied", display=f"{host}/{name}", programs=len(recipe.programs))
        return f"{host}/{name}"

    async def _find_attempt(self, loss_id: str) -> tuple[str, list[str]]:
        """Return the id of the present attempt, and the hosts of those before it that failed."""
        passed: list[str] = []
        while True:
            request_id = ids.id_made_of("req", f"{loss_id} {len(passed)}")
            at = await self._places.find_assigned(request_id)
            if not at.host.startswith(_PASSED):
                return request_id, passed
            passed.append(at.host.removeprefix(_PASSED))

    async def _pass_host(self, request_id: str, host: str) -> None:
        at = await self._places.find_assigned(request_id)
        await self._places.assign(request_id, _PASSED + host, at)

    def _is_away(self, host: str) -> bool:
        member = self._roster.all().get(host)
        return member is None or member.life is not Life.UP


def _make_loss_id(member: Member, display: str) -> str:
    """Return an identity of this loss of a display: the lost host's last report is in it."""
    state = member.state
    return f"{state.host} {state.instance} {state.utc_s} {display}"
