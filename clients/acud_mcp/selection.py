"""Which tools one server serves: toolsets, single tools, read-only."""

from __future__ import annotations

from collections.abc import Iterable

from acud.errors import InvalidRequest
from acud_mcp.options import Options
from acud_mcp.table import CAPS, TOOLS
from acud_mcp.tool import Effect, Tool


def selected(options: Options) -> tuple[Tool, ...]:
    """Return the tools to serve, in the order of the table: those of `caps` and those named in `tools`, or all when
    neither is given; `read_only` then takes away whatever writes. Raises: InvalidRequest for a name that is none."""
    possible = [tool for tool in TOOLS if tool.exists and not (tool.needs_workspace and options.workspace is None)]
    _check("toolset", options.caps, CAPS)
    _check("tool", options.tools, [tool.name for tool in possible])
    everything = not options.caps and not options.tools
    return tuple(
        tool
        for tool in possible
        if (everything or tool.toolset in options.caps or tool.name in options.tools)
        and not (options.read_only and tool.effect is not Effect.READS)
    )


def _check(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for name in given:
        if name not in names:
            raise InvalidRequest(f"no {kind} {name!r}", hint=f"known: {', '.join(names)}")
