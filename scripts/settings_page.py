"""docs/settings.md, made from conf/acud.toml: each key with its default, its reason and its name in the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from acud import config

_SEEDED = re.compile(r"\s*\[(?:[A-Z][A-Z0-9_]+(?:, )?)+\]")
_PAGE = re.compile(r"docs/([a-z-]+\.md)")


class Key(NamedTuple):
    """A key of the file: its section's header, its name, its value as it is written, the comment before it."""

    section: str
    name: str
    value: str
    reason: str


def keys(file: str) -> str:
    """Return a table for each section in the text of the file."""
    variables = {place: name for name, place in config.environment_names().items()}
    parts, section = list[str](), ""
    for key in _keys(file):
        if key.section != section:
            section = key.section
            parts.append(f"\n## `{section}`\n\n| key | default | what it does |\n|---|---|---|")
        parts.append(_row(key, variables.get((section.strip("[]"), key.name), "")))
    return "\n".join(parts).strip()


def _keys(file: str) -> Iterator[Key]:
    section, words = "", list[str]()
    for line in _whole_lines(file):
        if line.startswith("["):
            # Words right before a section's header are about the section, and stand with its first key.
            section = line
        elif line.startswith("#"):
            words.append(line.removeprefix("#").strip())
        elif " = " in line:
            name, value = line.split(" = ", 1)
            yield Key(section, name, value, _SEEDED.sub("", " ".join(words)))
            words = []
        elif section == "":
            words = []


def _whole_lines(file: str) -> list[str]:
    """Return the lines, an array over several of them on one."""
    return re.sub(r"= \[\n(.*?),?\n\]", lambda found: f"= [{' '.join(found[1].split())}]", file, flags=re.DOTALL).split(
        "\n"
    )


def _row(key: Key, variable: str) -> str:
    twin = f" Environment: `{variable}`." if variable else ""
    reason = _prose(key.reason) or "See the line above."
    return f"| `{key.name}` | `{key.value}` | {reason}{twin} |"


def _prose(comment: str) -> str:
    """Return the words of a comment as Markdown of a table's cell that shows just them, pages as links."""
    pieces = re.split(r"(`[^`]*`)", comment)
    shown = [piece if piece.startswith("`") else _escaped(piece) for piece in pieces]
    return _PAGE.sub(r"[docs/\1](\1)", "".join(shown)).replace("|", "\\|")


def _escaped(words: str) -> str:
    return re.sub(r"([<>*\[\]])", r"\\\1", words)
