"""The one application that every listener serves: its routers, each with its own error format, behind one filter."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette

from acud.base.paths import Paths
from acud.config.http_listeners import ListenerSettings, WebSettings
from acud_client.aio import AsyncClient
from acud_http.errors import ENDPOINT_ERRORS, GATEWAY_ERRORS, ErrorFormat
from acud_http.request_filter import ENDPOINTS, GATEWAY, RequestFilter, Surface
from acud_http.server import CONNECTIONS, ConnectionLimit, Listener, Server
from acud_web import api, http_endpoints, pages, tools
from acud_web.access import Authenticator, Revocations
from acud_web.api import document
from acud_web.api.hub import EventHub
from acud_web.daemon_gateway import DaemonGateway
from acud_web.live import routes as live
from acud_web.live.displays import DisplayHub
from acud_web.route_table import Row, route

_SERVED: tuple[Row, ...] = (*pages.ROUTES, *api.ROUTES, *live.ROUTES, *tools.ROUTES)
ROWS: tuple[Row, ...] = (*_SERVED, *document.rows(_SERVED, api.OPERATIONS))
"""Every route of the gateway, with the scope it needs; a test tries each with every kind of access token."""
_PER_ADDRESS = 150
"""The most connections from one address: all connections of this machine are from one."""
_ROUTERS: dict[str, tuple[Sequence[Row], ErrorFormat]] = {
    GATEWAY.table: (ROWS, GATEWAY_ERRORS),
    ENDPOINTS.table: (http_endpoints.ROWS, ENDPOINT_ERRORS),
}


def application(surface: Surface, settings: ListenerSettings | WebSettings, token: str = "") -> RequestFilter:
    return RequestFilter(router(*_ROUTERS[surface.table]), surface, settings, token)


def router(rows: Sequence[Row], errors: ErrorFormat) -> Starlette:
    made = Starlette(routes=[route(row) for row in rows], exception_handlers=errors.handlers)
    made.router.redirect_slashes = False
    return made


class Serving:
    """One run of the servers of `listener`, for the daemon of `paths`. Borrows the socket; run once."""

    def __init__(self, listener: Listener, paths: Paths) -> None:
        self._listener, self._paths = listener, paths
        self._filter = application(listener.surface, listener.settings, listener.token)
        self._server = _make_server(self._filter, listener)

    async def run(self) -> None:
        async with (
            AsyncClient(self._paths) as client,
            contextlib.AsyncExitStack() as stack,
            asyncio.TaskGroup() as beside,
        ):
            gateway = DaemonGateway(client)
            listening: list[asyncio.Task[None]] = []
            if isinstance(self._listener.settings, WebSettings):
                live = await stack.enter_async_context(DisplayHub(gateway, self._paths, self._listener.settings))
                state = gateway_state(gateway, live, self._listener.settings)
                listening.append(beside.create_task(state["revocations"].run(client)))
            else:
                state = {"gateway": gateway}
            self._filter.state.update(state)
            await self._server.run()
            for task in listening:
                task.cancel()

    def stop(self) -> None:
        """End in good order: no new connections, answers under way finished."""
        self._server.stop()

    def counters(self) -> dict[str, float]:
        """Return how many requests were let in and how many refused, since the start."""
        return {"requests": float(self._filter.passed), "refused": float(self._filter.refused)}


def gateway_state(gateway: DaemonGateway, live: DisplayHub, settings: WebSettings) -> dict[str, Any]:
    """Return the state of requests to the gateway; run its "revocations" beside the server."""
    admission = Authenticator(gateway)
    return {
        "gateway": gateway,
        "admission": admission,
        "revocations": Revocations(admission),
        "hub": EventHub(gateway),
        "live": live,
        "settings": settings,
    }


def _make_server(app: RequestFilter, listener: Listener) -> Server:
    wanted = listener.settings
    if not isinstance(wanted, WebSettings):
        return Server(app, listener.socket, CONNECTIONS)
    limit = ConnectionLimit(wanted.max_connections, _PER_ADDRESS)
    most = wanted.max_connections + 1  # the limit's own refusal comes first, and makes room
    return Server(app, listener.socket, most, limit, websockets=True, certificate=listener.certificate)
