"""Which addresses are push services: whoever may subscribe must not have acud call anything else. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit


def origin_of(endpoint: str) -> str:
    """Return scheme, host and, where it is named, port. Raises: ValueError when it is no address."""
    parts = urlsplit(endpoint)
    port = parts.port
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")


def is_service(endpoint: str, services: Sequence[str]) -> bool:
    """Tell whether `endpoint` lies with one of `services`: an origin, or over https at its usual port a host or a
    domain (`*.` before it).
    """
    try:
        parts, origin = urlsplit(endpoint), origin_of(endpoint)
    except ValueError:
        return False
    if parts.username is not None or parts.password is not None:
        return False
    host = parts.hostname or ""
    usual = parts.scheme == "https" and parts.port in (None, 443)
    return any(origin == one if "://" in one else usual and _matches(host, one) for one in services)


def _matches(host: str, service: str) -> bool:
    return host.endswith(service[1:]) if service.startswith("*.") else host == service
