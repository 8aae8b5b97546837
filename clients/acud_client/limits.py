"""How long each request may take in all, when its caller names no limit."""

from __future__ import annotations

import msgspec

from acud.errors import InvalidRequest
from acud.protocol.requests import BY_NAME, Command
from acud.protocol.requests.command import name_of

DEFAULT_S = 10.0
POLL_S = 20.0
"""The longest single long-poll of `wait_end`: short enough that a daemon's restart costs little."""


def total_s(request: msgspec.Struct, timeout_s: float) -> float:
    """Return the limit in seconds for `request`: the client's own, or more where its declaration says so."""
    return command_of(request).total_s(request, timeout_s)


def command_of(request: msgspec.Struct) -> Command:
    """Return the declaration of `request`. Raises: InvalidRequest when its type is no request's."""
    command = BY_NAME.get(name_of(type(request)))
    if command is None:
        raise InvalidRequest(f"{type(request).__name__} is not a request")
    return command


def poll_s(left_s: float) -> float:
    """Return how long the next long-poll may block when `left_s` are left in all."""
    return max(0.0, min(POLL_S, left_s))
