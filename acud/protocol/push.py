"""Web Push (RFC 8030): where a browser takes notifications, and what clients learn of it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Endpoint = Annotated[str, Meta(min_length=10, max_length=2000, pattern="^https?://[!-~]+$")]
P256dh = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{87}$")]
"""The browser's public key: an uncompressed point of P-256 in base64url without padding."""
AuthSecret = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{22}$")]
"""16 bytes in base64url without padding."""


class PushTarget(Struct, frozen=True, forbid_unknown_fields=True):
    """What a browser's PushSubscription says. The endpoint is a secret: who knows it can address the browser."""

    endpoint: Endpoint
    p256dh: P256dh
    auth: AuthSecret


class PushInfo(Struct, frozen=True, forbid_unknown_fields=True):
    """One subscription, as it may be shown. `service`: the host of its push service."""

    push_id: str
    pass_id: str
    service: str
    created_utc_s: float
