"""The configuration files that hosts keep of their MCP servers: their places, and acud's entry in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from acud.base.errors import Refused
from acud_mcp import host_files

TIMEOUT_MS = 60_000


class McpHost(msgspec.Struct, frozen=True):
    """`file`: under HOME. `section`: the path to the map of servers in it. `extra`: what an entry has beside command,
    args and env. `skill`: where the host looks for a skill file ("": nowhere). `form`: of the file. `one_command`: the
    arguments are in the list of the command. `renamed`: the host's names for `command`, `args` and `env`.
    """

    title: str
    file: str
    section: tuple[str, ...]
    extra: dict[str, Any] = {}
    skill: str = ""
    form: Literal["json", "toml", "yaml"] = "json"
    one_command: bool = False
    renamed: dict[str, str] = {}


HOSTS: dict[str, McpHost] = {
    "openclaw": McpHost(
        "OpenClaw",
        ".openclaw/openclaw.json",
        ("mcp", "servers"),
        {"requestTimeoutMs": TIMEOUT_MS},
        ".openclaw/skills/acud/SKILL.md",
    ),
    "claude": McpHost("Claude Code", ".claude.json", ("mcpServers",), {"type": "stdio"}),
    "claude-desktop": McpHost("Claude Desktop", ".config/Claude/claude_desktop_config.json", ("mcpServers",)),
    "cursor": McpHost("Cursor", ".cursor/mcp.json", ("mcpServers",)),
    "vscode": McpHost("VS Code", ".config/Code/User/mcp.json", ("servers",), {"type": "stdio"}),
    "codex": McpHost("Codex", ".codex/config.toml", ("mcp_servers",), form="toml"),
    "gemini": McpHost("Gemini CLI", ".gemini/settings.json", ("mcpServers",)),
    "opencode": McpHost(
        "opencode",
        ".config/opencode/opencode.json",
        ("mcp",),
        {"type": "local", "enabled": True},
        one_command=True,
        renamed={"env": "environment"},
    ),
    "goose": McpHost(
        "Goose",
        ".config/goose/config.yaml",
        ("extensions",),
        {"type": "stdio", "name": "acud", "enabled": True, "timeout": TIMEOUT_MS // 1000},
        form="yaml",
        renamed={"command": "cmd", "env": "envs"},
    ),
}

_CARRIED = ("ACU_HOME", "ACU_WORKSPACE")
"""Hosts strip the environment of their servers; the present values are written down."""


def make_entry(host: McpHost, arguments: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    """Return the host's entry for acud, run by the interpreter of this installation."""
    carried = {name: env[name] for name in _CARRIED if env.get(name)}
    command, listed = sys.executable, ["-m", "acud_cli", "mcp", *arguments]
    made: dict[str, Any] = {"command": [command, *listed]} if host.one_command else {"command": command, "args": listed}
    made |= {"env": carried} if carried else {}
    return {host.renamed.get(name, name): value for name, value in made.items()} | host.extra


def merge_entry(host: McpHost, text: str, entry: dict[str, Any], file: Path) -> str:
    """Return the host's configuration `text` with `entry` as its server `acud`, everything else kept.

    Raises: Refused when that can't be done for certain.
    """
    return host_files.FORMS[host.form](text, host.section, entry, file)


def show_entry(host: McpHost, entry: dict[str, Any]) -> str:
    """Return `entry` in the form of a file that holds nothing else."""
    return merge_entry(host, "", entry, Path(host.file))


def write_file(file: Path, text: str) -> None:
    """Replace `file`, whole or not at all, keeping its mode; a link is followed to the file it names."""
    target = file.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(opened, "w", encoding="utf-8") as new:
        new.write(text)
    partial.replace(target)


def read_skill() -> str:
    """Return the skill file, from the installed package or from its checkout. Raises: Refused when it is not there."""
    here = Path(__file__).resolve().parent
    for path in (here / "SKILL.md", here.parents[1] / "conf" / "openclaw" / "SKILL.md"):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise Refused("this installation has no skill file", hint="copy conf/openclaw/SKILL.md from the sources")
