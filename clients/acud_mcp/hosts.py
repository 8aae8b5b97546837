"""The configuration files that hosts keep of their MCP servers: their places, and acud's entry in them."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from acud.base.errors import Refused

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
    """Return the host's configuration `text` with `entry` as its server `acud`, everything else kept: JSON is written
    anew; TOML and YAML are changed at the entry alone, so that their comments stay. Raises: Refused when that can't be
    done for certain.
    """
    return FORMS[host.form](text, host.section, entry, file)


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


NAME = "acud"
_BY_HAND = "add what --dry-run prints by hand"

Entry = dict[str, Any]


def merge_json(text: str, section: Sequence[str], entry: Entry, file: Path) -> str:
    """Return `text` with `entry` as its server `acud`. Raises: Refused when it is not plain JSON (comments would be
    lost)."""
    try:
        document = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        document = None
    place = document
    for name in section:
        place = place.setdefault(name, {}) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        raise Refused(f"{file} is not plain JSON", hint=_BY_HAND)
    place[NAME] = entry
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def merge_toml(text: str, section: Sequence[str], entry: Entry, file: Path) -> str:
    """Return `text` with the table of `entry` in it. Raises: Refused when it is no TOML, or has such an entry in
    another form than as a table of its own."""
    wanted = _parse_toml(text, file)
    place: Any = wanted
    for name in section:
        place = place.setdefault(name, {}) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        raise Refused(f"{file}: {'.'.join(section)} is no table", hint=_BY_HAND)
    place[NAME] = entry
    kept = _remove_table(text, (*section, NAME)).rstrip("\n")
    made = (f"{kept}\n\n" if kept else "") + format_toml_entry(section, entry)
    try:
        same = tomllib.loads(made) == wanted
    except ValueError:
        same = False
    if not same:
        raise Refused(f"{file} has {'.'.join(section)} in a form that can't be added to", hint=_BY_HAND)
    return made


def _parse_toml(text: str, file: Path) -> Entry:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise Refused(f"{file} is not valid TOML", hint="mend it first") from fault


def _remove_table(text: str, names: Sequence[str]) -> str:
    header = re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(rf"[\"']?{name}[\"']?" for name in names) + r"\s*(\.[^\]]*)?\]")
    lines, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            inside = header.match(line) is not None
        if not inside:
            lines.append(line)
    return "".join(lines)


def format_toml_entry(section: Sequence[str], entry: Entry) -> str:
    name = ".".join((*section, NAME))
    plain = [f"{key} = {_format_toml_value(value)}" for key, value in entry.items() if not isinstance(value, dict)]
    lines = [f"[{name}]", *plain]
    for key, value in entry.items():
        if isinstance(value, dict):
            lines += ["", f"[{name}.{key}]", *(f"{inner} = {_format_toml_value(one)}" for inner, one in value.items())]
    return "\n".join(lines) + "\n"


def _format_toml_value(value: Any) -> str:
    # A basic string of TOML takes the escapes of JSON; so do its lists, numbers and truth values.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def merge_yaml(text: str, section: Sequence[str], entry: Entry, file: Path) -> str:
    """Return `text` with `entry` in one line of its block `section`, as JSON, which YAML takes. Raises: Refused where
    that block has another form, or has an entry that is not such a line."""
    (block,) = section
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    heads = [number for number, line in enumerate(lines) if re.match(rf"[\"']?{block}[\"']?\s*:", line)]
    if not heads:
        if any(line.startswith(("{", "[", "\t", "---", "...", "%")) for line in lines):
            raise Refused(f"{file} is not a block of names", hint=_BY_HAND)
        return "".join([*lines, f"{block}:\n", format_yaml_line(entry, "  ")])
    head = heads[0]
    form = re.sub(r"\s+#.*", "", lines[head]).strip()
    if len(heads) > 1 or form not in (f"{block}:", f"{block}: {{}}"):
        raise Refused(f"{file} has {block} in a form that can't be added to", hint=_BY_HAND)
    lines[head] = f"{block}:\n" if form.endswith("}") else lines[head]
    return "".join(_find_block(lines, head, entry, file))


def _find_block(lines: list[str], head: int, entry: Entry, file: Path) -> list[str]:
    indent = ""
    for number in range(head + 1, len(lines)):
        line = lines[number]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            break
        indent = indent or line[: len(line) - len(line.lstrip(" "))]
        if re.match(rf"{indent}[\"']?{NAME}[\"']?\s*:", line):
            if not line.strip().startswith(f"{NAME}: {{"):
                raise Refused(f"{file} has an entry {NAME} already", hint="remove it, then install again")
            return [*lines[:number], format_yaml_line(entry, indent), *lines[number + 1 :]]
    return [*lines[: head + 1], format_yaml_line(entry, indent or "  "), *lines[head + 1 :]]


def format_yaml_line(entry: Entry, indent: str) -> str:
    return f"{indent}{NAME}: {json.dumps(entry, ensure_ascii=False)}\n"


Merge = Callable[[str, Sequence[str], Entry, Path], str]
FORMS: dict[str, Merge] = {"json": merge_json, "toml": merge_toml, "yaml": merge_yaml}
