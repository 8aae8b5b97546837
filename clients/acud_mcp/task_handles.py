"""Waits as task handles: the MCP extension `io.modelcontextprotocol/tasks` (SEP-2663, from protocol 2026-07-28 on).

A task is a wait and its id the wait's id, so a handle outlives this server and its connections. Nothing but
`tasks/cancel` ends one. A client that did not declare the extension on its request never sees a handle.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, NoReturn

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from acud.errors import AcudError, Conflict, NotFound
from acud.protocol.requests.waits import WaitCancel, WaitResult, WaitResultReply, WaitShow, WaitShowReply
from acud.types import ConditionWords, WaitInfo, WaitState, condition_text
from acud_mcp.daemon import Daemon
from acud_mcp.next_steps import error_words
from acud_mcp.tool_calls import result
from acud_mcp.wait_tools import wait_view

EXTENSION = "io.modelcontextprotocol/tasks"
_TOOL = "smart_wait"
_SINCE = "2026-07-28"
_POLL_MS = 2000
_MAX_ID = 64
_STATUS = {WaitState.WATCHING: "working", WaitState.CANCELLED: "cancelled"}
"""Every other end is `completed`: a time that ran out is a result; `failed` is kept for errors of the protocol."""

Context = ServerRequestContext[Any, Any]
Wire = dict[str, Any]
CallTool = Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]]


class TaskParams(types.RequestParams):
    """What `tasks/get`, `tasks/update` and `tasks/cancel` are given; no task here ever asks for input."""

    task_id: str


class Handles:
    """The extension over `daemon`. `call_tool`: what answers `tools/call` without it."""

    def __init__(self, daemon: Daemon, call_tool: CallTool) -> None:
        self._daemon = daemon
        self._call_tool = call_tool

    def add_to(self, server: Server[Any]) -> None:
        """Advertise the extension, serve its methods, and let `smart_wait` answer with a handle."""
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._call)
        for name, handler in (("get", self._get), ("update", self._update), ("cancel", self._cancel)):
            server.add_request_handler(f"tasks/{name}", TaskParams, handler)

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult | Wire:
        done = await self._call_tool(context, params)
        if params.name != _TOOL or done.is_error or not _is_declared(context):
            return done
        try:
            shown: WaitShowReply = await self._daemon.ask(WaitShow(str((done.structured_content or {})["wait_id"]), 0))
        except AcudError:  # the wait is armed: what the tool said holds, and names its id
            return done
        return {"resultType": "task", **_task(shown.wait)}

    async def _get(self, context: Context, params: TaskParams) -> Wire:
        reply: WaitResultReply = await self._ask(context, params, WaitResult(params.task_id[:_MAX_ID]))
        task = _task(reply.wait)
        if task["status"] == "completed":
            told = result(wait_view(reply.wait, evidence_path=reply.evidence_path, stage_paths=reply.stage_paths))
            task["result"] = told.model_dump(by_alias=True, exclude_none=True, mode="json")
        return task

    async def _update(self, context: Context, params: TaskParams) -> Wire:
        await self._ask(context, params, WaitShow(params.task_id[:_MAX_ID], 0))
        return {}

    async def _cancel(self, context: Context, params: TaskParams) -> Wire:
        request = WaitCancel(params.task_id[:_MAX_ID], "cancelled with tasks/cancel")
        await self._ask(context, params, request, ignored=(Conflict,))  # an end that is there already
        return {}

    async def _ask(
        self, context: Context, params: TaskParams, request: Any, ignored: tuple[type[AcudError], ...] = ()
    ) -> Any:
        _must_be_declared(context)
        if not 0 < len(params.task_id) <= _MAX_ID:
            _refuse(NotFound(f"no task {params.task_id[:_MAX_ID]!r}"))
        try:
            return await self._daemon.ask(request)
        except ignored:
            return None
        except AcudError as fault:
            _refuse(fault)


def _is_declared(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    extensions = capabilities.extensions if capabilities else None
    return context.protocol_version >= _SINCE and EXTENSION in (extensions or {})


def _task(info: WaitInfo) -> Wire:
    return {
        "taskId": info.wait_id,
        "status": _STATUS.get(info.state, "completed"),
        "statusMessage": f"{info.state.value}: {condition_text(info.spec.until, ConditionWords.BRIEF)}",
        "createdAt": _iso(info.created_utc_s),
        "lastUpdatedAt": _iso(info.ended_utc_s or info.created_utc_s),
        "ttlMs": None,
        "pollIntervalMs": _POLL_MS,
    }


def _iso(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _must_be_declared(context: Context) -> None:
    if context.protocol_version < _SINCE:
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found")
    if not _is_declared(context):
        needed = types.ClientCapabilities(extensions={EXTENSION: {}})
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            f"declare the extension {EXTENSION}",
            data.model_dump(by_alias=True, exclude_none=True, mode="json"),
        )


def _refuse(fault: AcudError) -> NoReturn:
    unknown = isinstance(fault, NotFound)
    raise MCPError(types.INVALID_PARAMS if unknown else types.INTERNAL_ERROR, error_words(fault)) from fault
