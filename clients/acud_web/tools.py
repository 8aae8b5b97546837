"""/tool/*: the tools of `acud mcp` over plain HTTP, one route each, for agents without MCP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from acud.base.errors import InvalidRequest, NotFound, Unavailable
from acud.protocol.requests import find_command
from acud.protocol.requests.command import Command, Effect
from acud.protocol.web import Scope
from acud_http.errors import answer
from acud_mcp.block_limits import PATIENT_S
from acud_mcp.scene_changes import KnownScenes
from acud_web.access import need
from acud_web.api.operation import BODY_BYTES, ApiRequest, Nothing
from acud_web.route_table import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acud_mcp.tool import Options, Tool


class HttpToolCall:
    """What a tool may use of the daemon, as far as the access token of the request is good for it."""

    def __init__(self, request: ApiRequest[Nothing, Nothing], options: Options) -> None:
        self.options = options
        self.scenes = KnownScenes()  # a request has no session
        self.client = ""
        self._asked = request

    async def first_wait_to_end(self, block_s: float) -> str:
        """Raises: InvalidRequest, since a request over HTTP has no session."""
        raise InvalidRequest("wait_id is missing", hint="over HTTP there is no session whose waits are meant")

    @property
    def block_s(self) -> float:
        """As long as any call may block: a program over HTTP chooses its own time limit."""
        return PATIENT_S

    async def ask(self, request: Struct) -> Any:
        """Return the daemon's reply. Raises: AcudError; HttpFault 403 where the access token is not good for it."""
        command = find_command(type(request))
        if hasattr(request, "peek") and not self._asked.access_token.allows(Scope.WAIT):
            request = msgspec.structs.replace(request, peek=True)  # a reader does not fetch it
        for scope in _scopes_of(command, request):
            need(self._asked.connection, scope)
        if command.asked_s is not None:
            return await self._asked.ask_while_there(request, command.reply)
        return await self._asked.ask(request, command.reply)

    async def ask_slowly(self, request: Struct, seconds: float) -> Any:
        """The same: over HTTP progress is not reported."""
        return await self.ask(request)


def _scopes_of(command: Command, request: Struct) -> tuple[Scope, ...]:
    """Return what an access token needs for `request`: as much as over REST, where it is an operation of its own."""
    if command.rest is not None:
        return command.rest.scope, command.rest.needs(request)
    return (Scope.READ if command.effect is Effect.READS else Scope.ACT,)


def _load_tools() -> Mapping[str, Tool]:
    """Return the tools by name. Nothing else of the gateway needs their modules."""
    from acud_mcp.server import TOOLS

    return {tool.name: tool for tool in TOOLS if tool.wants != "workspace"}


async def _find_tool(name: str) -> Tool:
    tools = await asyncio.to_thread(_load_tools)
    if name not in tools:
        raise NotFound(f"no tool {name[:80]!r} here", hint=f"tools: {', '.join(tools)}")
    return tools[name]


_HOST_FILES = ("image", "image_gone")
"""Arguments of waits that may name a picture's file on this machine, which is read here."""


async def call_tool(request: Request) -> Response:
    """Call a tool of `acud mcp` with the body as its arguments; the answer is its result."""
    asked = ApiRequest(request, Nothing(), Nothing)
    asked.must_be_unlimited("a tool")
    tool = await _find_tool(asked.place("name"))
    given = await asked.json()
    if tool.name.startswith(("smart_wait", "wait_")) and any(given.get(name) for name in _HOST_FILES):
        need(request, Scope.ACT)

    from acud_mcp import tool_calls
    from acud_mcp.tool import ImageResult, Options, TextResult

    call = HttpToolCall(asked, Options(asked.gateway.paths))
    try:
        value = await tool_calls.run(tool, call, given)
    except OSError as fault:
        raise Unavailable(f"{tool.name}: {fault.strerror or fault}", hint="acud doctor") from fault
    if isinstance(value, TextResult):
        return answer({"text": value.text})
    told = tool_calls.plain_result(value, quotes_screens=tool.quotes_screens)
    if isinstance(value, ImageResult):
        told["image"] = {"mime_type": value.mime_type, "data": tool_calls.image_text(value)}
    return answer(told)


class ToolTold(Struct, frozen=True):
    """A tool: what it does, and the JSON Schema of its arguments. `call`: where."""

    name: str
    about: str
    call: str
    arguments: dict[str, Any]


class ToolsTold(Struct, frozen=True):
    """Every tool."""

    tools: tuple[ToolTold, ...]


async def list_tools(request: Request) -> Response:
    tools = await asyncio.to_thread(_load_tools)

    from acud_mcp.tool import input_schema

    told = (ToolTold(one.name, one.about, f"POST /tool/{one.name}", input_schema(one)) for one in tools.values())
    return answer(msgspec.to_builtins(ToolsTold(tuple(told))))


ROUTES = (
    Row("GET", "/tool", list_tools, Scope.READ),
    Row("POST", "/tool/{name}", call_tool, Scope.READ, BODY_BYTES),
    Row("POST", "/{name}", call_tool, Scope.READ, BODY_BYTES, is_alias=True),
)
