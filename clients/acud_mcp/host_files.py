"""An entry put into a host's configuration file, everything else in it kept: JSON, TOML (Codex), YAML (Goose).

JSON is written anew; one with comments is refused. TOML and YAML are changed where the entry is and nowhere else, so
their comments stay; a file where that is not certain to work is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from acud.base.errors import Refused

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
