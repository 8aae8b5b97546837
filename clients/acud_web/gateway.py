"""The gateway's routes, and what becomes of faults."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette

from acud.errors import AcudError
from acud_web import api, entry, faults, metrics, pages
from acud_web.answers import Fault
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
"""Every route, with the scope it needs; a test tries each with every kind of pass."""

HANDLERS: dict[Any, Any] = {  # Starlette's own type knows no handler for both requests and WebSockets
    404: faults.not_found,
    405: faults.wrong_method,
    Fault: faults.told,
    AcudError: faults.told,
    500: faults.broken,
}

application = Starlette(routes=[route(row) for row in ROWS], exception_handlers=HANDLERS)
application.router.redirect_slashes = False
