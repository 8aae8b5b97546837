"""The requests of those who bring wakes on, as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from acud.protocol.requests.wakes import WakeCarry, WakeCarryReply, WakeSeen, WakeSeenReply
from acud.protocol.wakes import SharedWake

Reply = TypeVar("Reply", bound=msgspec.Struct)


class CarryCalls(ABC):
    """The requests about wakes that others bring, of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def wake_seen(self, wake_ids: Sequence[str]) -> WakeSeenReply:
        """Note that the agents of these wakes (whole ids) took them: they are `seen`, and nobody is reminded."""
        return self.ask(WakeSeen(tuple(wake_ids)), WakeSeenReply)

    def wake_carry(self, wake: SharedWake) -> WakeCarryReply:
        """Try the daemon's own routes, in order, until one takes a wake of another host; nothing of it is kept."""
        return self.ask(WakeCarry(wake), WakeCarryReply)


class AsyncCarryCalls(ABC):
    """The requests about wakes that others bring, of a client that can `ask`."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def wake_seen(self, wake_ids: Sequence[str]) -> WakeSeenReply:
        """Note that the agents of these wakes (whole ids) took them: they are `seen`, and nobody is reminded."""
        return await self.ask(WakeSeen(tuple(wake_ids)), WakeSeenReply)

    async def wake_carry(self, wake: SharedWake) -> WakeCarryReply:
        """Try the daemon's own routes, in order, until one takes a wake of another host; nothing of it is kept."""
        return await self.ask(WakeCarry(wake), WakeCarryReply)
