"""How Sphinx makes the documentation site of docs/; scripts/site calls it with every warning as a fault."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# Trees of documents are large and live to the end: looking for garbage among them took a third of the build's time.
gc.set_threshold(500_000)

project = "acud"
extensions = ["myst_parser", "contents", "diagrams", "files", "loads", "reference"]
root_doc = "index"
highlight_language = "none"
smartquotes = False

myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]

html_theme = "furo"
html_title = "acud"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_theme_options = {"top_of_page_buttons": [], "footer_icons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def _write_llms(app: Any, _fault: Exception | None) -> None:
    """Write docs/llms.txt, whose links are those of a checkout, with the links of the site."""
    text = (HERE.parents[1] / "docs" / "llms.txt").read_text(encoding="utf-8")
    (Path(app.outdir) / "llms.txt").write_text(text.replace(".md)", ".html)"), encoding="utf-8")


def setup(app: Any) -> None:
    """Have Sphinx write the entry for agents at the end of a build."""
    app.connect("build-finished", _write_llms)
