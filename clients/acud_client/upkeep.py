"""The requests of an operator as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import msgspec

from acud.protocol.requests.daemon import (
    DaemonDrain,
    DaemonDrainReply,
    DaemonReload,
    DaemonReloadReply,
    EvaluatorsRestart,
    EvaluatorsRestartReply,
)

Reply = TypeVar("Reply", bound=msgspec.Struct)

HOUR_S = 3600.0


class UpkeepCalls(ABC):
    """The operator's requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def daemon_drain(
        self, timeout_s: float = HOUR_S, *, keep_displays: bool = False, cancel: bool = False
    ) -> DaemonDrainReply:
        """Have the daemon take nothing new and end once what runs has finished, or take that back (`cancel`)."""
        return self.ask(DaemonDrain(timeout_s, keep_displays, cancel), DaemonDrainReply)

    def daemon_reload(self) -> DaemonReloadReply:
        """Have the daemon read its settings again: what it took, what needs a restart. Raises: ConfigError."""
        return self.ask(DaemonReload(), DaemonReloadReply)

    def evaluators_restart(self) -> EvaluatorsRestartReply:
        """Renew the evaluators one at a time; returns when the last one is ready. No job is lost."""
        return self.ask(EvaluatorsRestart(), EvaluatorsRestartReply)


class AsyncUpkeepCalls(ABC):
    """The same, awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def daemon_drain(
        self, timeout_s: float = HOUR_S, *, keep_displays: bool = False, cancel: bool = False
    ) -> DaemonDrainReply:
        """Have the daemon take nothing new and end once what runs has finished, or take that back (`cancel`)."""
        return await self.ask(DaemonDrain(timeout_s, keep_displays, cancel), DaemonDrainReply)

    async def daemon_reload(self) -> DaemonReloadReply:
        """Have the daemon read its settings again: what it took, what needs a restart. Raises: ConfigError."""
        return await self.ask(DaemonReload(), DaemonReloadReply)

    async def evaluators_restart(self) -> EvaluatorsRestartReply:
        """Renew the evaluators one at a time; returns when the last one is ready. No job is lost."""
        return await self.ask(EvaluatorsRestart(), EvaluatorsRestartReply)
