"""From the JSON arguments of a call to the struct its tool takes, or one line that says what to mend."""

from __future__ import annotations

from typing import Any

import msgspec

from acud.errors import InvalidRequest
from acud_mcp.tool import Tool


def parse(tool: Tool, given: dict[str, Any] | None) -> msgspec.Struct:
    """Return the arguments of a call. Strings that spell a number or a truth value are taken as such, because models
    and command lines send them so; nulls count as not given.

    Raises: InvalidRequest naming the argument at fault.
    """
    kind = tool.arguments_type
    named = _renamed(tool, given or {})
    unknown = [name for name in named if name not in kind.__struct_fields__]
    if unknown:
        known = ", ".join(name for name in kind.__struct_fields__ if name not in tool.unlisted) or "none"
        raise InvalidRequest(f"{tool.name} has no argument {unknown[0]!r}", hint=f"arguments: {known}")
    try:
        return msgspec.convert(named, kind, strict=False)
    except msgspec.ValidationError as fault:
        raise _fault(tool, fault) from fault


def _renamed(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None:
            named.setdefault(tool.aliases.get(name, name), value)
    return named


def _fault(tool: Tool, fault: msgspec.ValidationError) -> InvalidRequest:
    text, _, place = str(fault).partition(" - at ")
    where = place.strip("`").removeprefix("$").removeprefix(".")
    return InvalidRequest(
        f"{tool.name}: {where + ': ' if where else ''}{text}", hint="mend the argument and call again"
    )
