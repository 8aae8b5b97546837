"""Every tool, and which of them one server serves.

A tool that is its request comes from that request's declaration. One that adds to a request, or makes several, stands
beside the function that does so.
"""

from __future__ import annotations

from collections.abc import Iterable

from acud.errors import InvalidRequest
from acud.protocol.requests import REQUESTS
from acud.protocol.requests.command import Effect
from acud_mcp import action_tool, daemon, gui_tools, history_tools, look_tools, memory_tools, wait_tools
from acud_mcp.options import Options
from acud_mcp.tool import Tool

CAPS = {
    "core": "waits, looks, actions and displays",
    "tasks": "task memory",
    "memory": "notes under ACU_WORKSPACE",
    "admin": "the daemon's health",
}
"""Toolsets by name, as `--caps` takes them."""

_FROM_REQUESTS = tuple(
    Tool(
        command.name,
        command.tool.toolset,
        command.tool.about,
        request=command.request,
        hidden=command.tool.hidden,
        quotes_screens=command.tool.quotes_screens,
    )
    for command in REQUESTS
    if command.tool is not None
)
"""The tools that are their request: same name, same fields, the reply as it is."""

TOOLS: tuple[Tool, ...] = (
    *wait_tools.TOOLS,
    *look_tools.TOOLS,
    *action_tool.TOOLS,
    look_tools.DISPLAY_LIST,
    *gui_tools.TOOLS,
    *history_tools.TOOLS,
    *_FROM_REQUESTS,
    *memory_tools.TOOLS,
    *daemon.TOOLS,
)
"""In the order in which models read them."""


def selected(options: Options) -> tuple[Tool, ...]:
    """Return the tools to serve, in the order of the table: those of `caps` and those named in `tools`, or all when
    neither is given; `read_only` then takes away whatever writes. Raises: InvalidRequest for a name that is none."""
    possible = [tool for tool in TOOLS if not (tool.needs_workspace and options.workspace is None)]
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
