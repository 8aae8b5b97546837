"""Waits as task handles: the MCP extension `io.modelcontextprotocol/tasks` (SEP-2663, from protocol 2026-07-28 on).

A task is a wait and its id the wait's id, so a handle outlives this server and its connections. Nothing but
`tasks/cancel` ends one. A client that did not declare the extension on its request never sees a handle.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from acud.base.errors import AcudError, Conflict, NotFound
from acud.protocol.requests.waits import WaitCancel, WaitResult, WaitResultReply, WaitShow
from acud.types import ConditionWords, WaitInfo, WaitState, condition_text
from acud_mcp.daemon import Daemon
from acud_mcp.handshake import TASKS, check_declares
from acud_mcp.json_rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Message, RpcError, text_param
from acud_mcp.resources import refuse
from acud_mcp.tool_calls import McpCaller, result
from acud_mcp.wait_tools import view_wait

TOOL = "smart_wait"
_POLL_MS = 2000
_ASKS_AGAIN_S = 15.0
"""A client that holds a handle asks again within this: a few of its polls may be late on a loaded machine."""
_FOLLOW_S = 30.0
_MOST_FOLLOWED = 64
"""Each task that a client listens to parks a call at the daemon."""
_MAX_ID = 64
_STATUS = {WaitState.WATCHING: "working", WaitState.CANCELLED: "cancelled"}
"""Every other end is `completed`: a time that ran out is a result; `failed` is kept for errors of the protocol."""


class Handles:
    """The extension over `daemon`."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.methods = {"tasks/get": self._get, "tasks/update": self._update, "tasks/cancel": self._cancel}

    async def handle_for(self, caller: McpCaller, reply: Message) -> Message:
        """Return the handle of the wait that `smart_wait` answered `reply` about; `reply` for a client without it."""
        if reply["isError"] or not (caller.client.is_modern and TASKS in caller.client.extensions):
            return reply
        request = WaitResult(str(reply["structuredContent"]["wait_id"]), peek=True, again_s=_ASKS_AGAIN_S)
        try:
            shown: WaitResultReply = await self._daemon.ask(request)
        except AcudError:  # the wait is armed: the tool's own answer holds, and names its id
            return reply
        return {"resultType": "task", **_view_task(shown.wait)}

    async def find_known(self, task_ids: Sequence[str]) -> list[str]:
        """Return the first of `task_ids` that are tasks here: their ends are notified."""
        known: list[str] = []
        for task_id in task_ids[:_MOST_FOLLOWED]:
            with contextlib.suppress(RpcError):
                await self._ask_daemon(WaitResult(task_id, peek=True, again_s=_ASKS_AGAIN_S))
                known.append(task_id)
        return known

    async def follow(self, task_id: str, tell: Callable[[Message], None]) -> None:
        """Call `tell` with the task, as `tasks/get` returns it, once it has ended; its wake is held back meanwhile."""
        task: Message = {"status": "working"}
        while task["status"] == "working":
            try:
                task = await self._describe_task(task_id, _FOLLOW_S)
            except RpcError as fault:
                if fault.code == INVALID_PARAMS:  # it is no longer kept
                    return
                await asyncio.sleep(_POLL_MS / 1000)
        tell(task)

    async def _get(self, caller: McpCaller, params: Message) -> Message:
        return await self._describe_task(_find_task_id(caller, params))

    async def _describe_task(self, task_id: str, block_s: float = 0.0) -> Message:
        reply: WaitResultReply = await self._ask_daemon(WaitResult(task_id, block_s, again_s=_ASKS_AGAIN_S))
        task = _view_task(reply.wait)
        if task["status"] == "completed":
            view = view_wait(reply.wait, evidence_path=reply.evidence_path, stage_paths=reply.stage_paths)
            task["result"] = result(view)
        return task

    async def _update(self, caller: McpCaller, params: Message) -> Message:
        await self._ask_daemon(WaitShow(_find_task_id(caller, params), 0))
        return {}

    async def _cancel(self, caller: McpCaller, params: Message) -> Message:
        request = WaitCancel(_find_task_id(caller, params), "cancelled with tasks/cancel")
        await self._ask_daemon(request, expected=(Conflict,))  # an end that is there already
        return {}

    async def _ask_daemon(self, request: Any, expected: tuple[type[AcudError], ...] = ()) -> Any:
        try:
            return await self._daemon.ask(request)
        except expected:
            return None
        except AcudError as fault:
            refuse(fault)


def _find_task_id(caller: McpCaller, params: Message) -> str:
    """Return the id in the request of a client that declared the extension. Raises: RpcError."""
    if not caller.client.is_modern:
        raise RpcError(METHOD_NOT_FOUND, "Method not found")
    check_declares(caller.client)
    task_id = text_param(params, "taskId")
    if not 0 < len(task_id) <= _MAX_ID:
        refuse(NotFound(f"no task {task_id[:_MAX_ID]!r}"))
    return task_id


def _view_task(info: WaitInfo) -> Message:
    return {
        "taskId": info.wait_id,
        "status": _STATUS.get(info.state, "completed"),
        "statusMessage": f"{info.state.value}: {condition_text(info.spec.until, ConditionWords.BRIEF)}",
        "createdAt": _format_iso(info.created_utc_s),
        "lastUpdatedAt": _format_iso(info.ended_utc_s or info.created_utc_s),
        "ttlMs": None,
        "pollIntervalMs": _POLL_MS,
    }


def _format_iso(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
