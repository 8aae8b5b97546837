"""The requests about browsers that take notifications as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import msgspec

from acud.protocol.push import PushTarget
from acud.protocol.requests.notifications import PushList, PushListReply, PushReply, PushSubscribe, PushUnsubscribe

Reply = TypeVar("Reply", bound=msgspec.Struct)


class PushCalls(ABC):
    """The requests about pushes of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def push_list(self, pass_id: str = "") -> PushListReply:
        """Return the browsers that take notifications, or those of one pass."""
        return self.ask(PushList(pass_id), PushListReply)

    def push_subscribe(self, pass_id: str, target: PushTarget) -> PushReply:
        """Send what the pass may see to this browser. Raises: NotFound; InvalidRequest; Conflict; Unavailable."""
        return self.ask(PushSubscribe(pass_id, target), PushReply)

    def push_unsubscribe(self, push_id: str, pass_id: str = "") -> PushReply:
        """End a subscription, and return it. Raises: NotFound."""
        return self.ask(PushUnsubscribe(push_id, pass_id), PushReply)


class AsyncPushCalls(ABC):
    """The same for a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def push_list(self, pass_id: str = "") -> PushListReply:
        """Return the browsers that take notifications, or those of one pass."""
        return await self.ask(PushList(pass_id), PushListReply)

    async def push_subscribe(self, pass_id: str, target: PushTarget) -> PushReply:
        """Send what the pass may see to this browser. Raises: NotFound; InvalidRequest; Conflict; Unavailable."""
        return await self.ask(PushSubscribe(pass_id, target), PushReply)

    async def push_unsubscribe(self, push_id: str, pass_id: str = "") -> PushReply:
        """End a subscription, and return it. Raises: NotFound."""
        return await self.ask(PushUnsubscribe(push_id, pass_id), PushReply)
