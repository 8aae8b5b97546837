"""/metrics: what the daemon measures, as Prometheus scrapes it."""

from __future__ import annotations

import ipaddress

from starlette.requests import Request
from starlette.responses import Response

from acud.protocol.requests.daemon import Metrics, MetricsReply
from acud.protocol.web import Scope
from acud_client import exposition
from acud_web.access import need_unlimited
from acud_web.route_table import Row

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


async def get(request: Request) -> Response:
    """Return the text. It names every display, so a pass that is limited to some is not good for it."""
    if not is_open(request):
        need_unlimited(request, Scope.READ)
    told = await request.state.desk.ask(Metrics(), MetricsReply)
    return Response(exposition.text(told.metrics), media_type=exposition.CONTENT_TYPE)


def is_open(request: Request) -> bool:
    """Tell whether this scrape needs no pass: `[web] metrics_open`, and it comes from this machine.

    A proxy on this machine speaks for others; those that say so are told from scrapes.
    """
    if not request.state.metrics_open or request.client is None:
        return False
    return _is_here(request.client.host) and not any(name in request.headers for name in _FORWARDED)


def _is_here(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


ROUTES = (Row("GET", "/metrics", get, Scope.READ, may_pass=is_open),)
