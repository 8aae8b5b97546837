"""Nothing of the built site comes from elsewhere: no font, script, picture, frame or style. Links may lead anywhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LOADS = frozenset({"action", "background", "data", "formaction", "poster", "src", "srcset"})
"""Attributes whose address a browser fetches, or sends something to, wherever they stand; `<link href>` as well."""

_OUTSIDE = re.compile(r"(?:https?:|wss?:)?//", re.IGNORECASE)
_STYLED = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s;]+)", re.IGNORECASE)


class _Page(HTMLParser):
    """Collects the addresses outside of the site that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._styling = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._styling = tag == "style"
        for name, value in attributes:
            if (name in _LOADS or (tag, name) == ("link", "href")) and _OUTSIDE.search(value or ""):
                self.found.append(f"<{tag} {name}={value!r}>")
            if name == "style":
                self.found += _STYLED.findall(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._styling = False

    def handle_data(self, data: str) -> None:
        if self._styling:
            self.found += _STYLED.findall(data)


def outside(folder: Path) -> list[str]:
    """Return a line for each thing that a page or style under `folder` loads from elsewhere."""
    return [f"{path.relative_to(folder)}: {one}" for path in sorted(folder.rglob("*")) for one in _loads(path)]


def _loads(path: Path) -> list[str]:
    if path.suffix in (".css", ".svg"):
        return _STYLED.findall(path.read_text(encoding="utf-8"))
    if path.suffix != ".html":
        return []
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page.found


def _refuse(app: Sphinx, fault: Exception | None) -> None:
    from sphinx.errors import SphinxError

    if fault is None and (found := outside(Path(app.outdir))):
        raise SphinxError("the site would load from elsewhere:\n" + "\n".join(found))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", _refuse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
