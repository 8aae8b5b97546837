"""What people and agents are told, as texts with their places: strings, docstrings and comments of the code, pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scripts.house import ROOT, comments_of, nodes_of

BACKENDS = ("azure", "bedrock", "google", "llama")
"""Names that examples give to backends; their keys have variables."""
HOLE = "…"
"""Stands for a value that is put in at run time; pages write the same."""

_FENCED = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n+)+", re.MULTILINE)
_TICKED = re.compile(r"(?<!`)`([^`]+)`(?!`)")
VERBATIM = re.compile(r"\x08\n(.*?)(?:\n\s*\n|\Z)", re.DOTALL)
"""A paragraph that `click` is told to leave as it is."""
_COMMAND = re.compile(r"""(?:^|\$\(|[|&;] )\s*(acud (?:"[^"]*"|'[^']*'|[^|&;)"'])*)""")
_ADVICE = {"hint", "fix"}


class Said(NamedTuple):
    """A text and where it stands. `code`: a command line or a name, as it is to be typed; else prose. `advice`: of an
    error, what to do now.
    """

    place: str
    text: str
    code: bool = False
    advice: bool = False


@cache
def everything() -> tuple[Said, ...]:
    """Return everything said in the code, on the pages, in the settings and by the dashboard."""
    return (*code(), *pages(), *others())


def code(folders: tuple[str, ...] = ("acud", "clients", "scripts"), holding: str = "") -> Iterator[Said]:
    """Yield strings, docstrings and comments of the Python files that hold those words."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if holding in path.read_text(encoding="utf-8"):
                yield from _of_python(path)


def pages() -> Iterator[Said]:
    """Yield what the pages say, without CHANGELOG.md, which names what is gone."""
    skill, features = ROOT / "conf" / "openclaw" / "SKILL.md", sorted((ROOT / "acud").rglob("README.md"))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), skill, *features]:
        yield from of_page(_place(path), path.read_text(encoding="utf-8"))


def others() -> Iterator[Said]:
    """Yield settings, units, scripts and the dashboard, as prose."""
    conf = [path for path in sorted((ROOT / "conf").rglob("*")) if path.suffix in {".toml", ".service", ".sysusers"}]
    shown = [path for path in sorted((ROOT / "clients").rglob("*")) if path.suffix in {".js", ".html"}]
    scripts = [path for path in sorted((ROOT / "scripts").iterdir()) if path.is_file() and not path.suffix]
    for path in [*conf, *shown, *scripts]:
        yield from _ticked(_place(path), path.read_text(encoding="utf-8"), code=path.suffix not in {".js", ".html"})


def of_page(place: str, text: str) -> Iterator[Said]:
    """Yield a page's command lines, what stands in backticks, and the rest."""
    for found in _FENCED.finditer(text):
        if found[2] in ("sh", "bash"):
            yield from _lines(place, found[3])
        elif found[2] != "text":
            yield Said(place, found[3])
    prose = _FENCED.sub("\n", text)
    for found in _INDENTED.finditer(prose):
        yield from _lines(place, found[0])
    yield from _ticked(place, _INDENTED.sub("\n", prose))


def _lines(place: str, block: str) -> Iterator[Said]:
    """Yield the command lines of a block, without comments, and these as prose."""
    for line in block.replace("\\\n", " ").splitlines():
        line = line.strip()
        command, *comment = ["", line] if line.startswith("#") else re.split(r" {3,}|  (?=#)", line, maxsplit=1)
        yield from (Said(place, part) for part in comment)
        for part in _COMMAND.findall(command):
            yield Said(place, part.strip(), code=True)


def _ticked(place: str, text: str, *, code: bool = True) -> Iterator[Said]:
    if code:
        for found in _TICKED.finditer(text):
            yield Said(place, " ".join(found[1].split()), code=True)
        text = _TICKED.sub("`", text)
    yield Said(place, text)


def _of_python(path: Path) -> Iterator[Said]:
    nodes = nodes_of(path)
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inner = {id(part) for node in joined for part in ast.walk(node)} - {id(node) for node in joined}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    advice = {id(word.value) for node in calls for word in node.keywords if word.arg in _ADVICE}
    for node in nodes:
        text = _text_of(node)
        if text is None or id(node) in inner:
            continue
        place = f"{_place(path)}:{getattr(node, 'lineno', 0)}"
        for found in VERBATIM.finditer(text):
            yield from _lines(place, found[1])
        rest = VERBATIM.sub("\n", text)
        yield from (one._replace(advice=id(node) in advice) for one in _ticked(place, rest))
    for line, comment in comments_of(path):
        yield from _ticked(f"{_place(path)}:{line}", comment)


def _text_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
    return None


def _place(path: Path) -> str:
    return str(path.relative_to(ROOT))
