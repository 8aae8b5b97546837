"""The requests about the agent's runs as methods, sync and async: a part of each client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import msgspec

from acud.protocol.requests.agents import (
    AgentCancel,
    AgentList,
    AgentListReply,
    AgentResult,
    AgentResultReply,
    GuiAgent,
    RunReply,
)
from acud.types import JudgeName, Until, WakeAddress
from acud.types.agent_runs import RunLimits

Reply = TypeVar("Reply", bound=msgspec.Struct)


class AgentCalls(ABC):
    """The agent requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    def gui_agent(
        self,
        instruction: str,
        target: str = "screen",
        *,
        display: str = "",
        expect: Until | None = None,
        backend: str = "",
        model: str = "",
        judge: JudgeName = JudgeName.AUTO,
        limits: RunLimits | None = None,
        task_id: str = "",
        wake: WakeAddress = WakeAddress(),  # noqa: B008 - frozen
    ) -> RunReply:
        """Begin a run and return it at once; `agent_result` tells how it ended. `backend` and `model` "": as set."""
        who = (backend, model, judge, limits, task_id, wake)
        return self.ask(GuiAgent(instruction, target, display, expect, *who), RunReply)

    def agent_result(self, run_id: str, *, block_s: float = 0.0, peek: bool = False) -> AgentResultReply:
        """Return the run at its end, or as it is after `block_s`."""
        return self.ask(AgentResult(run_id, block_s, peek), AgentResultReply)

    def agent_list(self, *, task_id: str = "", limit: int = 50) -> AgentListReply:
        """Return the newest runs without their steps."""
        return self.ask(AgentList(task_id, limit), AgentListReply)

    def agent_cancel(self, run_id: str, *, reason: str = "") -> RunReply:
        """End a run now. Raises: Conflict when it has ended."""
        return self.ask(AgentCancel(run_id, reason), RunReply)


class AsyncAgentCalls(ABC):
    """The same for a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

    async def gui_agent(
        self,
        instruction: str,
        target: str = "screen",
        *,
        display: str = "",
        expect: Until | None = None,
        backend: str = "",
        model: str = "",
        judge: JudgeName = JudgeName.AUTO,
        limits: RunLimits | None = None,
        task_id: str = "",
        wake: WakeAddress = WakeAddress(),  # noqa: B008 - frozen
    ) -> RunReply:
        """Begin a run and return it at once; `agent_result` tells how it ended. `backend` and `model` "": as set."""
        who = (backend, model, judge, limits, task_id, wake)
        return await self.ask(GuiAgent(instruction, target, display, expect, *who), RunReply)

    async def agent_result(self, run_id: str, *, block_s: float = 0.0, peek: bool = False) -> AgentResultReply:
        """Return the run at its end, or as it is after `block_s`."""
        return await self.ask(AgentResult(run_id, block_s, peek), AgentResultReply)

    async def agent_list(self, *, task_id: str = "", limit: int = 50) -> AgentListReply:
        """Return the newest runs without their steps."""
        return await self.ask(AgentList(task_id, limit), AgentListReply)

    async def agent_cancel(self, run_id: str, *, reason: str = "") -> RunReply:
        """End a run now. Raises: Conflict when it has ended."""
        return await self.ask(AgentCancel(run_id, reason), RunReply)
