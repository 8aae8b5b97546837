"""Reference pages are made from the code while the site is built: `scripts/site` writes them complete into the folder
that ACUD_REFERENCE names, and they stand for what the checkout has of them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_MADE = Path(os.environ["ACUD_REFERENCE"])


def _complete(app: Sphinx, name: str, source: list[str]) -> None:
    page = _MADE / f"{name}.md"
    if page.exists() and (Path(app.srcdir) / page.name).exists():
        source[0] = page.read_text(encoding="utf-8")


def _add_documents(app: Sphinx, _fault: Exception | None) -> None:
    for path in _MADE.glob("*.json"):
        shutil.copy(path, app.outdir)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    pages = sorted(path.stem for path in _MADE.glob("*.md"))
    app.add_js_file(None, body=f"const REFERENCE = {json.dumps(pages)};")  # site.js ranks them last in a search
    app.connect("source-read", _complete, priority=100)  # before links and navigation are read
    app.connect("build-finished", _add_documents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
