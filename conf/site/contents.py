"""The navigation is the lists of links on the landing page: one place, readable on a forge too.

Each `## Section` of index.md, or `### Part` of one, with lines `- [Title](page.md)…` is a part of the sidebar. A page
that no list names is outside of the navigation, for which Sphinx has a warning.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([\w/.-]+)\.md\)")


def sections(page: str) -> dict[str, list[tuple[str, str]]]:
    """Return the (title, page) pairs that each section of `page` lists, in order; sections without any are left out."""
    found: dict[str, list[tuple[str, str]]] = {}
    section = caption = ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = caption = line.removeprefix("## ").strip()
        elif line.startswith("### "):
            caption = f"{section}: {line.removeprefix('### ').strip().lower()}"
        elif entry := _ENTRY.match(line):
            found.setdefault(caption, []).append((entry[1], entry[2]))
    return found


def _toctree(section: str, entries: list[tuple[str, str]]) -> str:
    lines = [f"{title} <{page}>" for title, page in entries]
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {section}", "", *lines, "```"])


def _with_navigation(app: Sphinx, name: str, source: list[str]) -> None:
    if name == app.config.root_doc:
        trees = [_toctree(section, entries) for section, entries in sections(source[0]).items()]
        source[0] += "\n\n" + "\n\n".join(trees) + "\n"


def _with_levels(app: Sphinx, name: str, template: str, context: dict[str, Any], tree: nodes.document | None) -> None:
    """Say which level the sidebar's captions have, which Furo calls headings and nothing more."""
    context["furo_navigation_tree"] = context["furo_navigation_tree"].replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _with_navigation)
    app.connect("html-page-context", _with_levels, priority=900)  # after Furo, which makes the tree
    return {"parallel_read_safe": True, "parallel_write_safe": True}
