"""Names over hosts: a display is `host/:100` outside and `:100` on its host, and so are the tokens that begin with it.

Only fields of typed messages are changed, never what is inside a client's own data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from acud.protocol.requests.display_add import DisplayAdd
from acud.protocol.requests.display_list import DisplayListReply
from acud.protocol.requests.display_remove import DisplayRemove
from acud.types import DisplayInfo

_OUTER = re.compile(r"([a-z0-9][a-z0-9-]{0,62})/(:\d.*)", re.DOTALL)
_TARGET = "display:"
_NAMED = ("display", "baseline", "view")
"""Fields that hold a display's name, or a token that begins with one."""

Change = Callable[[str], str]


def outward(value: Any, host: str) -> Any:
    """Return the message `value` of `host` with its displays named as outside."""
    return _changed(value, lambda word: f"{host}/{word}" if word.startswith(":") else word)


def inward(value: Any) -> tuple[Any, set[str]]:
    """Return the message `value` as its host wants it, and the hosts that its displays and tokens named."""
    hosts: set[str] = set()

    def change(word: str) -> str:
        found = _OUTER.fullmatch(word)
        if found is None:
            return word
        hosts.add(found[1])
        return found[2]

    return _changed(value, change), hosts


def host_in(word: str) -> str:
    """Return the host that a display's name begins with, "" for none."""
    found = _OUTER.fullmatch(word)
    return found[1] if found is not None else ""


def _changed(value: Any, change: Change) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_changed(one, change) for one in value)
    if not isinstance(value, msgspec.Struct):
        return value
    given = {name: getattr(value, name) for name in value.__struct_fields__}
    new = {name: _field(value, name, found, change) for name, found in given.items()}
    different = {name: found for name, found in new.items() if found is not given[name]}
    return msgspec.structs.replace(value, **different) if different else value


def _field(owner: msgspec.Struct, name: str, value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return _word(owner, name, value, change)
    if name == "displays" and value and isinstance(value[0], str):
        return tuple(change(one) for one in value)
    if isinstance(value, msgspec.Struct) or (isinstance(value, tuple | list) and value):
        return _changed(value, change)
    return value


def _word(owner: msgspec.Struct, name: str, value: str, change: Change) -> str:
    if name in _NAMED or (name == "name" and isinstance(owner, DisplayInfo | DisplayAdd | DisplayRemove)):
        return change(value)
    if name == "default" and isinstance(owner, DisplayListReply):
        return change(value)
    if name == "target" and value.startswith(_TARGET):
        return _TARGET + change(value.removeprefix(_TARGET))
    return value
