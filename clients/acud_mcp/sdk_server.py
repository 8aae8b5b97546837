"""The server as the MCP SDK carries it, for HTTP: the methods of `Methods` as handlers of the SDK's server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError

from acud import __version__
from acud_mcp.daemon import Starter
from acud_mcp.handshake import McpClient, check_declares, complete
from acud_mcp.json_rpc import Message, RpcError
from acud_mcp.resources import Updates
from acud_mcp.server import INSTRUCTIONS, Method, Methods
from acud_mcp.tool import Options

Context = ServerRequestContext[Any, Any]


def build(options: Options, starter: Starter | None = None) -> Server[Any]:
    """Return a server for `options`; `starter` starts an absent daemon. Raises: InvalidRequest for unknown names."""
    methods = Methods(options, starter)
    listened = ListenHandler(_Bus(methods.updates))

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            await methods.close()

    async def listen(context: Context, params: types.SubscriptionsListenRequestParams) -> Any:
        if methods.extensions and (params.notifications.model_extra or {}).get("taskIds"):
            try:  # the SDK's stream has no place for them, so that none is acknowledged
                check_declares(_SdkCaller(context).client)
            except RpcError as fault:
                raise MCPError(fault.code, fault.message, fault.data) from fault
        await methods.updates.begin()
        return await listened(context, params)

    server: Server[Any] = Server(
        "acud", version=__version__, instructions=INSTRUCTIONS, lifespan=lifespan, on_subscriptions_listen=listen
    )
    for name, method in methods.by_name.items():
        server.add_request_handler(name, types.RequestParams, _make_handler(method))
    server.extensions.update(methods.extensions)
    server.middleware.clear()  # OpenTelemetry spans, which nothing collects here
    return server


def _make_handler(method: Method) -> Any:
    async def handle(context: Context, _: types.RequestParams) -> Message:
        caller = _SdkCaller(context)
        try:
            return complete(context.method, caller.client, await method(caller, dict(context.params or {})))
        except RpcError as fault:
            raise MCPError(fault.code, fault.message, fault.data) from fault

    return handle


class _SdkCaller:
    """The client of one request: over HTTP its session is the one that the SDK gave it, in-process there is one."""

    def __init__(self, context: Context) -> None:
        self._session = context.session
        given = context.session.client_params
        capabilities = context.session.client_capabilities
        extensions = (capabilities.extensions if capabilities else None) or {}
        self.client = McpClient(context.protocol_version, given.client_info.name if given else "", extensions)
        headers = None if context.request is None else context.request.headers
        self.session = "" if headers is None else headers.get("mcp-session-id") or None

    async def report_progress(self, done: float, total: float, words: str) -> None:
        await self._session.report_progress(done, total, words)

    async def notify_updated(self, uri: str) -> None:
        await self._session.send_resource_updated(uri)


class _Bus:
    """The updates as the SDK's `SubscriptionBus`."""

    def __init__(self, updates: Updates) -> None:
        self._updates = updates

    async def publish(self, event: ServerEvent) -> None:
        raise NotImplementedError("only the daemon's events are published, by the updates themselves")

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        return self._updates.subscribe(lambda uri: listener(ResourceUpdated(uri)))
