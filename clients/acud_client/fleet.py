"""The requests to a fleet's endpoint as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, TypeVar

import msgspec

from acud.fleet import Labels
from acud.protocol.requests.fleet import (
    FleetDrain,
    FleetDrainReply,
    FleetHosts,
    FleetHostsReply,
    FleetPlace,
    FleetPlaceReply,
)

Reply = TypeVar("Reply", bound=msgspec.Struct)
Action = Literal["drain", "resume", "forget"]


class FleetCalls(ABC):
    """The requests about a fleet of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def fleet_hosts(self) -> FleetHostsReply:
        """Return every host that ever joined the fleet, with what it said last. Asked of a fleet's endpoint."""
        return self.ask(FleetHosts(), FleetHostsReply)

    def fleet_place(self, name: str = "", *, labels: Labels | None = None) -> FleetPlaceReply:
        """Return where the task, wait, run or recording `name` lives; without one, where a display with these `labels`
        would be started now. Raises: NotFound, Refused when no host would do."""
        return self.ask(FleetPlace(name, dict(labels or {})), FleetPlaceReply)

    def fleet_drain(self, host: str, action: Action = "drain") -> FleetDrainReply:
        """Have `host` take nothing new, take it again (`resume`), or be forgotten. Raises: NotFound, Conflict."""
        return self.ask(FleetDrain(host, action), FleetDrainReply)


class AsyncFleetCalls(ABC):
    """The requests about a fleet of a client that can `ask`."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def fleet_hosts(self) -> FleetHostsReply:
        """Return every host that ever joined the fleet, with what it said last. Asked of a fleet's endpoint."""
        return await self.ask(FleetHosts(), FleetHostsReply)

    async def fleet_place(self, name: str = "", *, labels: Labels | None = None) -> FleetPlaceReply:
        """Return where the task, wait, run or recording `name` lives; without one, where a display with these `labels`
        would be started now. Raises: NotFound, Refused when no host would do."""
        return await self.ask(FleetPlace(name, dict(labels or {})), FleetPlaceReply)

    async def fleet_drain(self, host: str, action: Action = "drain") -> FleetDrainReply:
        """Have `host` take nothing new, take it again (`resume`), or be forgotten. Raises: NotFound, Conflict."""
        return await self.ask(FleetDrain(host, action), FleetDrainReply)
