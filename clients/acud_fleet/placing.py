"""On which host a new task or display is started: labels, then most room, then least load."""

from __future__ import annotations

from typing import Any

from acud.errors import AcudError, OutcomeUnknown, Refused, Unavailable
from acud.fleet import Labels
from acud.protocol.requests.display_create import DisplayCreate
from acud.protocol.requests.task_register import TaskRegister
from acud_fleet.asking import Asker
from acud_fleet.places import Places
from acud_fleet.registry import Life, Member
from acud_fleet.roster import Roster

_CLAIMS = 12
"""Tries on hosts whose words keep changing under us."""


class Placing:
    """Finds a host for what is new, and starts it there once, however often it is asked with the same id."""

    def __init__(self, asker: Asker, roster: Roster, places: Places) -> None:
        self._asker = asker
        self._roster = roster
        self._places = places

    async def start(self, request: TaskRegister | DisplayCreate, request_id: str, within_s: float) -> tuple[str, Any]:
        """Return the host that took `request`, and its reply.

        Raises: Refused when no host would do, naming each reason; OutcomeUnknown when the host was lost over it.
        """
        refused: dict[str, str] = {}
        at = await self._places.assigned(request_id)
        again = bool(at.host)
        for _ in range(_CLAIMS):
            if at.host in refused or not await self._is_member(at.host):
                member = await self._claimed(request, refused)
                at, again = await self._places.assign(request_id, member.host, at), False
                if at.host in refused:  # another endpoint is about to hear what we heard
                    continue
            reply = await self._tried(at.host, request, request_id, within_s, refused, again=again)
            if reply is not None:
                return at.host, reply
            at = await self._places.assigned(request_id)
        raise nowhere(refused)

    async def _is_member(self, host: str) -> bool:
        """Tell whether `host` is one of the fleet, not forgotten meanwhile; another endpoint may know it first."""
        if host and host not in self._roster.all():
            await self._roster.read()
        return host in self._roster.all()

    async def _claimed(self, request: TaskRegister | DisplayCreate, refused: dict[str, str]) -> Member:
        needs_room = isinstance(request, DisplayCreate) or request.isolated_display
        for _ in range(_CLAIMS):
            members = list(self._roster.all().values())
            best, others = choose(members, request.labels, needs_room=needs_room, passed=refused)
            if best is None:
                raise nowhere(others)
            if not needs_room or await self._roster.registry.claim(best):
                return best
            await self._roster.read()
        raise Unavailable("the hosts of the fleet change too fast to claim a place", hint="ask again")

    async def _tried(
        self, host: str, request: Any, request_id: str, within_s: float, refused: dict[str, str], *, again: bool
    ) -> Any:
        """Return the reply of `host`, None when it takes nothing: then it is in `refused`."""
        try:
            return await self._asker.ask(host, request, request_id, within_s, again=again)
        except Refused as fault:
            if fault.facts.get("reason") != "no_room":
                raise
            refused[host] = fault.message
        except Unavailable as fault:
            if fault.facts.get("delivered") is not False:
                raise _unsure(fault, host) from fault
            refused[host] = fault.message
        await self._roster.read()
        return None


def _unsure(fault: AcudError, host: str) -> AcudError:
    if fault.facts.get("host") != host:
        return fault
    return OutcomeUnknown(
        f"host {host} was asked to start it, and then: {fault.message}",
        hint="repeat the request with the same id: it goes to the same host, and nothing is started twice",
        host=host,
    )


def choose(
    members: list[Member], labels: Labels, *, needs_room: bool, passed: dict[str, str]
) -> tuple[Member | None, dict[str, str]]:
    """Return the host to take, None for none, and why each other one is not it."""
    reasons = {one.host: _why_not(one, labels, needs_room=needs_room) for one in members} | passed
    able = [one for one in members if not reasons[one.host]]
    best = min(able, key=lambda one: (-one.free, one.state.load, one.host), default=None)
    others = {
        one.host: reasons[one.host] or f"room for {one.free} more, load {one.state.load:g}"
        for one in members
        if best is None or one.host != best.host
    }
    return best, others


def _why_not(member: Member, labels: Labels, *, needs_room: bool) -> str:
    if member.life is not Life.UP:
        return member.told()
    lacking = [f"{name}={value}" for name, value in labels.items() if member.state.labels.get(name) != value]
    if lacking:
        return f"not labelled {', '.join(lacking)}"
    if member.draining:
        return "is being drained"
    if needs_room and member.free == 0:
        return f"full: {member.state.displays} displays of {member.state.room}"
    return ""


def nowhere(reasons: dict[str, str]) -> Refused:
    """Return the error of a fleet without a host that would do."""
    told = "; ".join(f"{host}: {reason}" for host, reason in reasons.items()) or "no host has joined"
    return Refused(f"no host of the fleet takes it: {told}", hint="acud fleet hosts", reason="no_host")
