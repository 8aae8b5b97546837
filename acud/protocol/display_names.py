"""Find the display names in typed messages, and replace them.

Only fields of typed messages are changed, never what is inside a client's own data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from acud.protocol.requests.displays import DisplayAdd, DisplayListReply, DisplayRemove
from acud.types import DisplayInfo, display_name

_TARGET = "display:"
_NAMED = ("display", "baseline", "view")
"""Fields that hold a display's name, or a token that begins with one."""

Change = Callable[[str], str]


def canonical(request: Any) -> Any:
    """Return the request with one name for each display, however its client spelled it: what is allowed, taken or
    watched is looked up by name.
    """
    return renamed(request, display_name)


def renamed(value: Any, change: Change) -> Any:
    """Return the message `value` with each of its displays' names changed."""
    if isinstance(value, tuple | list):
        return type(value)(renamed(one, change) for one in value)
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
        return renamed(value, change)
    return value


def _word(owner: msgspec.Struct, name: str, value: str, change: Change) -> str:
    if name in _NAMED or (name == "name" and isinstance(owner, DisplayInfo | DisplayAdd | DisplayRemove)):
        return change(value)
    if name == "default" and isinstance(owner, DisplayListReply):
        return change(value)
    if name == "target" and value.startswith(_TARGET):
        return _TARGET + change(value.removeprefix(_TARGET))
    return value
