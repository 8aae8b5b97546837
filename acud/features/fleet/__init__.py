"""The fleet: many hosts as one, over NATS. Nothing of NATS is imported without `[fleet] url`."""

from __future__ import annotations

from importlib.util import find_spec

from acud.base.errors import Unavailable


def require_nats() -> None:
    """Raises: Unavailable, with how to install it, when nats-py is missing."""
    if find_spec("nats") is None:
        raise Unavailable("nats-py is not installed", hint="install acud with its extra: acud[fleet]")
