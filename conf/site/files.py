"""Links of pages to Markdown files, which are right on a forge as they stand.

Those to files outside of docs/ lead to the file itself, as those to any other file do: MyST takes such a link for one
to a page, which there is not. Those that are called by a file's name (`[wakes.md](wakes.md)`) are called by the title
of the page, or of its section.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_LINK = re.compile(r"\]\((\.\./[\w./-]+\.md)\)")
_BY_FILE = re.compile(r"\[[\w/-]+\.md\](\((?!path:)[\w/-]+\.md(?:#[\w-]+)?\))")


def _as_files(app: Sphinx, name: str, source: list[str]) -> None:
    folder, pages = Path(app.env.doc2path(name)).parent, Path(app.srcdir).resolve()

    def told(found: re.Match[str]) -> str:
        inside = (folder / found[1]).resolve().is_relative_to(pages)
        return found[0] if inside else f"](path:{found[1]})"

    source[0] = _BY_FILE.sub(r"[]\1", _LINK.sub(told, source[0]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _as_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
