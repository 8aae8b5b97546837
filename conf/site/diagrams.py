"""State diagrams, written in Mermaid's words so that a forge draws them, are drawn here by Graphviz while the site is
built: no script in the page, and colours that follow its light or dark.

Known are the lines that the pages use: `a --> b`, `a --> b: label`, and `[*]` for beginning and end. Others fail.
"""

from __future__ import annotations

import re
import subprocess
from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

_HEAD = "stateDiagram-v2"
_EDGE = re.compile(r"^(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?$")
_LOOK = """
  bgcolor=transparent; nodesep=0.45; ranksep=0.4;
  node [shape=box, style=rounded, fontname="Helvetica", fontsize=13, height=0.4, margin="0.16,0.06"];
  edge [fontname="Helvetica", fontsize=11, arrowsize=0.7];
  begin [shape=circle, style=filled, label="", fixedsize=true, width=0.16, height=0.16, class=begin];
  end [shape=doublecircle, style=filled, label="", fixedsize=true, width=0.12, height=0.12, class=end];
"""


def to_dot(text: str) -> str:
    """Return the diagram in Graphviz's language. Raises: ValueError naming the line that is not known."""
    head, *lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if head != _HEAD:
        raise ValueError(f"{head!r}: only {_HEAD} is drawn")
    return f"digraph {{{_LOOK}{''.join(map(_edge, lines))}}}"


def _edge(line: str) -> str:
    found = _EDGE.match(line)
    if found is None:
        raise ValueError(f"{line!r} is no `a --> b: label`")
    source = "begin" if found[1] == "[*]" else found[1]
    target = "end" if found[2] == "[*]" else found[2]
    label = f' [label=" {found[3]} "]' if found[3] else ""
    return f"  {source} -> {target}{label};\n"


def to_svg(dot: str) -> str:
    """Return what Graphviz draws, as an <svg> element. Raises: FileNotFoundError where it is not installed."""
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True).stdout
    return re.sub(r"<!--.*?-->\n?", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)


class StateDiagram(Directive):
    """```` ```mermaid ```` with a state diagram in it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture, with its moves in words for those who do not see it."""
        try:
            drawn = to_svg(to_dot("\n".join(self.content)))
        except ValueError as fault:
            raise self.error(f"diagram: {fault}") from fault
        except FileNotFoundError as fault:
            raise self.error("diagram: Graphviz is not installed; scripts/setup --test installs it") from fault
        moves = [line.strip() for line in self.content[1:] if line.strip()]
        words = escape("; ".join(moves).replace("[*]", "(o)").replace(" --> ", " to "), quote=True)
        figure = f'<div class="diagram" role="img" aria-label="States: {words}">{drawn}</div>'
        return [nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_directive("mermaid", StateDiagram)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
