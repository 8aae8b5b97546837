"""Names over hosts: a display is `host/:100` outside and `:100` on its host; so are the tokens that begin with one."""

from __future__ import annotations

import re
from typing import Any

from acud.protocol.naming import renamed

_OUTER = re.compile(r"([a-z0-9][a-z0-9-]{0,62})/(:\d.*)", re.DOTALL)


def outward(value: Any, host: str) -> Any:
    """Return the message `value` of `host` with its displays named as outside."""
    return renamed(value, lambda word: f"{host}/{word}" if word.startswith(":") else word)


def inward(value: Any) -> tuple[Any, set[str]]:
    """Return the message `value` as its host wants it, and the hosts that its displays and tokens named."""
    hosts: set[str] = set()

    def change(word: str) -> str:
        found = _OUTER.fullmatch(word)
        if found is None:
            return word
        hosts.add(found[1])
        return found[2]

    return renamed(value, change), hosts


def host_in(word: str) -> str:
    """Return the host that a display's name begins with, "" for none."""
    found = _OUTER.fullmatch(word)
    return found[1] if found is not None else ""
