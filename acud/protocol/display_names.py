"""Find the display names in typed messages, and replace them.

Only fields of typed messages are changed, never what is inside a client's own data.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from acud.protocol.requests.displays import DisplayAdd, DisplayListReply, DisplayRemove
from acud.types import DisplayInfo, display_name

_TARGET = "display:"
_NAMED = ("display", "baseline", "view")
"""Fields that hold a display's name, or a token that begins with one."""

_ALWAYS = frozenset((*_NAMED, "displays", "target"))
_OF_SOME = {DisplayInfo: ("name",), DisplayAdd: ("name",), DisplayRemove: ("name",), DisplayListReply: ("default",)}
"""Fields of plain words that name a display in these messages alone."""

Change = Callable[[str], str]


def use_canonical_names(request: Any) -> Any:
    """Return the request with one name for each display, however its client spelled it: permissions, leases and watches
    are looked up by name.
    """
    return rename_displays(request, display_name)


def rename_displays(value: Any, change: Change) -> Any:
    """Return the message `value` with `change` applied to each display name in it; `value` itself if none changes."""
    if isinstance(value, tuple | list):
        new = [rename_displays(one, change) for one in value]
        same = all(found is given for found, given in zip(new, value, strict=True))
        return value if same else type(value)(new)
    if not isinstance(value, msgspec.Struct):
        return value
    different = {}
    for name in _fields_with_names(type(value)):
        given = getattr(value, name)
        found = _rename_field(value, name, given, change)
        if found is not given:
            different[name] = found
    return msgspec.structs.replace(value, **different) if different else value


@functools.cache
def _fields_with_names(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of `kind` that may hold a display's name, directly or in an inner message."""
    return tuple(name for name, hint in _list_fields(kind) if _may_name(kind, name, hint, {kind}))


def _list_fields(kind: type[msgspec.Struct]) -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(kind)
    return [(name, hints[name]) for name in kind.__struct_fields__]


def _may_name(kind: type[msgspec.Struct], name: str, hint: Any, seen: set[Any]) -> bool:
    if name in _ALWAYS or name in _OF_SOME.get(kind, ()):
        return True
    inner = [one for one in _list_messages(hint) if one not in seen]
    seen.update(inner)
    return any(
        one is Any or isinstance(one, TypeVar) or any(_may_name(one, *field, seen=seen) for field in _list_fields(one))
        for one in inner
    )


def _list_messages(hint: Any) -> Iterator[Any]:
    """Yield the message types that a value of type `hint` may hold, and types that may hold anything."""
    if hint is Any or isinstance(hint, TypeVar) or (isinstance(hint, type) and issubclass(hint, msgspec.Struct)):
        yield hint
    for part in typing.get_args(hint):
        yield from _list_messages(part)


def _rename_field(owner: msgspec.Struct, name: str, value: Any, change: Change) -> Any:
    if isinstance(value, str):
        if name in _NAMED or name in _OF_SOME.get(type(owner), ()):
            return change(value)
        if name == "target" and value.startswith(_TARGET):
            return _TARGET + change(value.removeprefix(_TARGET))
        return value
    if name == "displays" and isinstance(value, tuple | list) and value and isinstance(value[0], str):
        return tuple(change(one) for one in value)
    if isinstance(value, msgspec.Struct) or (isinstance(value, tuple | list) and value):
        return rename_displays(value, change)
    return value
