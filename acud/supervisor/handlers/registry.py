"""Which function answers which request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from acud.protocol.requests.command import name_of

Handler = TypeVar("Handler", bound=Callable[..., Any])

HANDLERS: dict[str, Callable[..., Any]] = {}
"""The handler of each request, by name; the modules of this package fill it when they are imported."""


def handles(request: type[msgspec.Struct]) -> Callable[[Handler], Handler]:
    """Make the decorated function the handler of `request`. Raises: ValueError when it has one."""

    def register(handler: Handler) -> Handler:
        name = name_of(request)
        if name in HANDLERS:
            raise ValueError(f"{name} has two handlers: {HANDLERS[name].__module__} and {handler.__module__}")
        HANDLERS[name] = handler
        return handler

    return register
