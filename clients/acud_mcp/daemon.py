"""The daemon behind the tools: its client, its start where that is wanted, and the tool `health_check`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import msgspec

from acud.base.errors import DaemonDown
from acud.base.paths import Paths
from acud.protocol.requests import BY_NAME
from acud.protocol.requests.daemon import Doctor, DoctorReply, Finding, Status, StatusReply
from acud_mcp.tool import Tool, ToolCall

if TYPE_CHECKING:
    from acud_client.aio import AsyncClient
    from acud_client.own_display import OwnDisplay


Starter = Callable[[], object]
"""Starts the daemon and returns when it answers; blocks. Raises: AcudError."""


class Daemon:
    """The daemon, as a client that is made, and ZeroMQ loaded, at the first call. `close` it."""

    def __init__(self, paths: Paths, starter: Starter | None, here: OwnDisplay | None = None) -> None:
        self._paths = paths
        self._here = here
        self._starter = starter
        self._starting = asyncio.Lock()
        self._client: AsyncClient | None = None

    @property
    def client(self) -> AsyncClient:
        if self._client is None:
            from acud_client.aio import AsyncClient

            self._client = AsyncClient(self._paths, here=self._here)
        return self._client

    async def ask(self, request: msgspec.Struct) -> Any:
        """Return the reply; an absent daemon is started first where there is a starter. Raises: AcudError."""
        kind = BY_NAME[str(request.__struct_config__.tag)].reply
        try:
            return await self.client.ask(request, kind)
        except DaemonDown as fault:
            if self._starter is None or not _is_absent(fault):
                raise
        await self._start_daemon(self._starter)
        return await self.client.ask(request, kind)

    async def _start_daemon(self, starter: Starter) -> None:
        async with self._starting:
            from acud_client.daemon_socket import SocketState

            if self.client.daemon_socket.look().state is not SocketState.OPEN:
                await anyio.to_thread.run_sync(starter)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


def _is_absent(fault: DaemonDown) -> bool:
    from acud_client.call import is_away

    return is_away(fault)


class HealthAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `health_check`."""


class HealthView(msgspec.Struct, frozen=True):
    """`status`: ok, warning or fault, the worst of the `findings`; `parts` counts what was looked at."""

    status: str
    version: str
    waits_live: int
    displays: tuple[str, ...]
    parts: int
    findings: tuple[Finding, ...]


async def health_check(call: ToolCall, args: HealthAsked) -> HealthView:
    """Return the daemon's findings that need attention."""
    doctor: DoctorReply = await call.ask(Doctor())
    status: StatusReply = await call.ask(Status())
    unwell = tuple(finding for finding in doctor.findings if finding.level != "ok")
    levels = {finding.level for finding in unwell}
    worst = "fault" if "fault" in levels else "warning" if levels else "ok"
    displays = tuple(f"{display.name} {display.state.value}" for display in status.displays)
    return HealthView(worst, status.version, status.waits_live, displays, len(doctor.findings), unwell)


TOOLS = (
    Tool(
        "health_check",
        "admin",
        "Check the daemon: judges, displays, faults and their fix.",
        request=Doctor,
        arguments=HealthAsked,
        result=HealthView,
        shows=("status", "findings"),
        run=health_check,
    ),
)
