"""Which tools a server has, and what is known of it before its tools are loaded.

Nothing here is slow to load: a host's first questions are answered with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from acud.base.errors import ConfigError, InvalidRequest

DEFAULT_PORT = 18794
"""Beside the ports that OpenClaw takes (18789 and the next)."""

CAPS = {
    "core": "waits, looks, actions and displays",
    "tasks": "task memory",
    "memory": "notes under ACU_WORKSPACE",
    "admin": "the daemon's health",
}
"""Toolsets by name, as `--caps` takes them."""


class Selection(NamedTuple):
    """`caps` and `tools` empty: everything. `absent`: what is missing that tools may need: "workspace" (notes),
    "planner" (a model for gui_agent), or a feature by its name.
    """

    caps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    read_only: bool = False
    absent: frozenset[str] = frozenset()


class Selectable(Protocol):
    """The properties by which a tool is selected."""

    @property
    def name(self) -> str: ...

    @property
    def toolset(self) -> str: ...

    @property
    def reads_only(self) -> bool:
        """Whether a call changes nothing."""

    @property
    def needs(self) -> Sequence[str]:
        """The feature or backend that the tool needs, as `Selection.absent` names it."""


Row = TypeVar("Row", bound=Selectable)


def choose(tools: Sequence[Row], by: Selection) -> tuple[Row, ...]:
    """Return the tools to serve, in their order: those of `caps` and those named in `tools`, or all when neither is
    given; `read_only` then takes away those that write. Tools that can't work here are served only if named. Raises:
    InvalidRequest for a name that is none.
    """
    possible = [tool for tool in tools if not ("workspace" in tool.needs and "workspace" in by.absent)]
    _check_names("toolset", by.caps, CAPS)
    _check_names("tool", by.tools, [tool.name for tool in possible])
    everything = not by.caps and not by.tools

    def is_wanted(tool: Row) -> bool:
        in_set = everything or tool.toolset in by.caps
        return tool.name in by.tools or (in_set and by.absent.isdisjoint(tool.needs))

    return tuple(tool for tool in possible if is_wanted(tool) and (tool.reads_only or not by.read_only))


def _check_names(kind: str, given_names: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for name in given_names:
        if name not in names:
            raise InvalidRequest(f"no {kind} {name!r}", hint=f"known: {', '.join(names)}")


def workspace_of(env: Mapping[str, str]) -> Path | None:
    """Return the directory that ACU_WORKSPACE names, or None when it is unset. Raises: ConfigError."""
    text = env.get("ACU_WORKSPACE", "")
    if not text:
        return None
    folder = Path(text).expanduser()
    if not folder.is_absolute():
        raise ConfigError(f"ACU_WORKSPACE is not an absolute path: {text}", hint="give the full path")
    return folder
