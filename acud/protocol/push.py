"""Web Push (RFC 8030): where a browser takes notifications, which push services are allowed, what clients learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Meta, Struct

Endpoint = Annotated[
    str, Meta(min_length=10, max_length=2000, pattern="^https?://[!-~]+$", description="the address of a push service")
]
P256dh = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{87}$", description="a key of 87 characters in base64url")]
"""The browser's public key: an uncompressed point of P-256 in base64url without padding."""
AuthSecret = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{22}$", description="a secret of 22 characters in base64url")]
"""16 bytes in base64url without padding."""


class PushTarget(Struct, frozen=True, forbid_unknown_fields=True):
    """A browser's PushSubscription. The endpoint is a secret: it suffices to send to the browser."""

    endpoint: Endpoint
    p256dh: P256dh
    auth: AuthSecret


class PushInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """A push subscription without its secrets. `service`: the host of its push service."""

    push_id: str
    pass_id: str
    service: str
    created_utc_s: float


def origin_of(endpoint: str) -> str:
    """Return scheme, host and, where it is named, port. Raises: ValueError when it is no address."""
    parts = urlsplit(endpoint)
    port = parts.port
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")


def is_service(endpoint: str, services: Sequence[str]) -> bool:
    """Return whether `endpoint` belongs to one of `services`: an origin, or over https at its usual port a host or a
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
    return any(origin == one if "://" in one else usual and _is_host_of(host, one) for one in services)


def _is_host_of(host: str, service: str) -> bool:
    return host.endswith(service[1:]) if service.startswith("*.") else host == service
