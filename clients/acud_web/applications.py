"""What acud serves over HTTP: the gateway (dashboard, API) and the relay endpoints; their routes and faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from acud.errors import AcudError
from acud.protocol.requests.commentary import AnalysisStatus, AnalysisStatusReply
from acud_web import agent, answers, api, entry, faults, feed, metrics, pages, sense, views
from acud_web.api import document
from acud_web.live import routes as live
from acud_web.route_table import Row, route

_SERVED: tuple[Row, ...] = (
    *pages.ROUTES,
    *entry.ROUTES,
    *api.ROUTES,
    *metrics.ROUTES,
    *live.ROUTES,
)
ROWS: tuple[Row, ...] = (*_SERVED, *document.rows(_SERVED, api.OPERATIONS))
"""Every route of the gateway, with the scope it needs; a test tries each with every kind of pass."""


async def health(request: Request) -> Response:
    """Return the state of rings and loop of the commentary; 503 with the reason when the daemon does not answer."""
    return answers.answer(views.health(await request.state.desk.ask(AnalysisStatus(), AnalysisStatusReply)))


_RELAY_ROUTES = (
    Route("/feed", feed.post, methods=["POST"]),
    Route("/feed", feed.get, methods=["GET"]),
    Route("/sense", sense.post, methods=["POST"]),
    Route("/sense", sense.get, methods=["GET"]),
    Route("/health", health, methods=["GET"]),
    Route("/agent/last", agent.last, methods=["GET"]),
    Route("/agent/history", agent.history, methods=["GET"]),
    Route("/agent/context", agent.context, methods=["GET"]),
    Route("/agent/config", agent.get_config, methods=["GET"]),
    Route("/agent/config", agent.set_config, methods=["POST"]),
)

GATEWAY_FAULTS: dict[Any, Any] = {  # Starlette's own type knows no handler for both requests and WebSockets
    404: faults.not_found,
    405: faults.wrong_method,
    answers.HttpFault: faults.told,
    AcudError: faults.told,
    500: faults.broken,
}
_RELAY_FAULTS: dict[Any, Any] = {
    404: answers.not_found,
    405: answers.not_found,
    answers.HttpFault: answers.told,
    AcudError: answers.failed,
    500: answers.broken,
}


def _application(routes: Sequence[BaseRoute], handlers: dict[Any, Any]) -> Starlette:
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False
    return made


GATEWAY = _application([route(row) for row in ROWS], GATEWAY_FAULTS)
RELAY = _application(_RELAY_ROUTES, _RELAY_FAULTS)
