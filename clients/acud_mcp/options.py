"""How one MCP server was asked to run: by options, else by their environment twins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from acud.errors import ConfigError
from acud.paths import Paths
from acud_client.own_display import OwnDisplay

DEFAULT_PORT = 18794
"""Beside the ports that OpenClaw takes (18789 and the next)."""


class Options(msgspec.Struct, frozen=True):
    """`caps` and `tools` empty: everything. `workspace` None: no memory tools. `autostart`: start an absent daemon.
    `tasks_extension`: clients that declare it get waits as task handles. `here`: the display that tools mean which name
    none (None: the daemon's default).
    """

    paths: Paths
    caps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    read_only: bool = False
    autostart: bool = False
    workspace: Path | None = None
    tasks_extension: bool = False
    here: OwnDisplay | None = None


def workspace_of(env: Mapping[str, str]) -> Path | None:
    """Return the directory that ACU_WORKSPACE names, or None when it is unset. Raises: ConfigError."""
    text = env.get("ACU_WORKSPACE", "")
    if not text:
        return None
    folder = Path(text).expanduser()
    if not folder.is_absolute():
        raise ConfigError(f"ACU_WORKSPACE is not an absolute path: {text}", hint="give the full path")
    return folder
