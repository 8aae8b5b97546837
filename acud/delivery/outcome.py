"""How one delivery ended, and the words for it."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Literal, Protocol

from msgspec import Struct

from acud.protocol.delivery import Deliver

_MAX_REASON = 200


class DeliveryOutcome(Struct, frozen=True):
    """`sent`: the receiver took it. `retry`: it may later, not before `retry_after_s`. `refused`: not as it is."""

    result: Literal["sent", "retry", "refused"]
    reason: str = ""
    retry_after_s: float = 0.0


SENT = DeliveryOutcome("sent")


class Route(Protocol):
    """One way to an agent. `limit_s`: no delivery takes longer. `places`: deliveries side by side."""

    limit_s: float
    places: int

    async def deliver(self, delivery: Deliver) -> DeliveryOutcome:
        """Deliver it; every failure on the way is an outcome. Cancelling it leaves nothing running."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def reason(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return `text` as one short line without `secrets`: a receiver may repeat what it was given."""
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1] + "…"


def retry_after_s(header: str) -> float:
    """Return the seconds in a Retry-After header (RFC 9110, 10.2.3: a number or a date); 0 for none or nonsense."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
