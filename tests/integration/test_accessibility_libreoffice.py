"""LibreOffice Calc: cells in view of a sheet of a million rows, each told where its colour is on the screen."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from Xlib import X

from acud.accessibility.nodes import Limits, Node, Tree
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.mirror import Mirror
from acud.types import Rect
from tests.grounding.desktop import Desktop

pytestmark = [
    pytest.mark.skipif(not shutil.which("soffice"), reason="no LibreOffice"),
    pytest.mark.skipif(not shutil.which("xdotool"), reason="no xdotool"),
]
LIMITS = Limits(walk_s=30, answer_s=10, actions=True)
LONG_S = 1e9
"""An age that nothing reaches: what changed must be noticed."""
COLOURS = {"A1": 0xE01020, "C5": 0x20A0E0, "E20": 0x10C040, "D90": 0xC040F0}
"""Cells whose background nothing else on the screen has."""


def _sheet() -> str:
    """Return a flat OpenDocument sheet of 120 rows that says `in A1` … `in H120`, some cells coloured; row 3 hidden."""
    styles = "".join(
        f'<style:style style:name="c{value:06x}" style:family="table-cell">'
        f'<style:table-cell-properties fo:background-color="#{value:06x}"/></style:style>'
        for value in COLOURS.values()
    )
    rows = "".join(
        f"<table:table-row{_COLLAPSED if row == 3 else ''}>"
        + "".join(_cell(f"{column}{row}") for column in "ABCDEFGH")
        + "</table:table-row>"
        for row in range(1, 121)
    )
    spaces = " ".join(f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for short, name in _SPACES)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {spaces} office:version="1.2"'
        ' office:mimetype="application/vnd.oasis.opendocument.spreadsheet">'
        f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>"
        f'<table:table table:name="Big">{rows}</table:table></office:spreadsheet></office:body></office:document>'
    )


_COLLAPSED = ' table:visibility="collapse"'
_SPACES = (
    ("office", "office"), ("style", "style"), ("table", "table"), ("text", "text"), ("fo", "xsl-fo-compatible"),
)  # fmt: skip


def _cell(name: str) -> str:
    style = f' table:style-name="c{COLOURS[name]:06x}"' if name in COLOURS else ""
    return f'<table:table-cell{style} office:value-type="string"><text:p>in {name}</text:p></table:table-cell>'


def _painted(desktop: Desktop, colour: int) -> Rect | None:
    """Return the box of all pixels of a colour."""
    screen = desktop.screen
    image = desktop.x.root.get_image(0, 0, screen.w, screen.h, X.ZPixmap, 0xFFFFFFFF)
    pixels = np.frombuffer(image.data, np.uint32).reshape(screen.h, screen.w) & 0xFFFFFF
    ys, xs = np.nonzero(pixels == colour)
    if not len(xs):
        return None
    return Rect(int(xs.min()), int(ys.min()), int(xs.max() - xs.min()) + 1, int(ys.max() - ys.min()) + 1)


def _cells(tree: Tree) -> dict[str, Node]:
    return {node.name: node for node in tree.nodes if node.role == "table cell"}


async def _told(mirror: Mirror, desktop: Desktop, *names: str) -> Tree:
    """Ask until these cells are told where they are painted, or for so long in vain."""
    for _ in range(600):
        tree = await mirror.tree(LONG_S, LIMITS, desktop.windows(), None)
        cells = _cells(tree)
        told = {name: cells[name].box if name in cells else None for name in names}
        painted = {name: _painted(desktop, COLOURS[name]) for name in names}
        if all(_is_near(told[name], painted[name]) for name in names):
            return tree
        await asyncio.sleep(0.1)
    raise AssertionError(f"cells are told at {told} and painted at {painted}")


def _is_near(box: Rect | None, painted: Rect | None) -> bool:
    if box is None or painted is None:
        return False
    edges = zip(
        (box.x, box.y, box.right, box.bottom), (painted.x, painted.y, painted.right, painted.bottom), strict=True
    )
    return all(abs(told - seen) <= 2 for told, seen in edges)


@pytest.mark.asyncio
async def test_the_cells_in_view_are_told_where_they_are_painted(tmp_path: Path) -> None:
    sheet = tmp_path / "big.fods"
    sheet.write_text(_sheet())
    with Desktop() as desktop:
        desktop.spawn(
            "soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", "--nolockcheck",
            f"-env:UserInstallation=file://{desktop.folder}/office", str(sheet), SAL_USE_VCLPLUGIN="gtk3",
        )  # fmt: skip
        desktop.wait_for(lambda: any("big.fods" in one.title for one in desktop.windows()), "LibreOffice")
        mirror = Mirror(AccessibilityBus(desktop.bus_address, connect_s=30))
        try:
            tree = await _told(mirror, desktop, "C5", "E20")
            cells, (window,) = _cells(tree), desktop.windows()
            for name in ("A1", "C5", "E20"):
                painted = _painted(desktop, COLOURS[name])
                assert painted is not None
                if name != "A1":  # the cursor is around that one
                    assert _is_near(cells[name].box, painted), (cells[name], painted)
                assert (cells[name].text, cells[name].window) == (f"in {name}", window.window_id)
            assert "A3" not in cells
            assert "D90" not in cells
            assert (tree.gaps(), tree.truncated) == ((), "")
            assert len(tree.nodes) < 2000
            assert tree.hidden > 1_000_000

            # What LibreOffice draws itself lies below the menu bar of GTK, and so does what GTK draws inside it.
            (file_menu,) = [n for n in tree.nodes if n.name == "File" and n.box and n.box.h > 20][:1]
            (save,) = [n for n in tree.nodes if (n.role, n.name) == ("push button", "Save")]
            assert file_menu.box is not None
            assert save.box is not None
            assert save.box.y >= file_menu.box.bottom

            down, env = ["xdotool", "key", "Page_Down", "Page_Down"], {**os.environ, **desktop.env()}
            await asyncio.to_thread(subprocess.run, down, env=env, check=True, timeout=60)
            cells = _cells(await _told(mirror, desktop, "D90"))
            assert cells["D90"].text == "in D90"
            assert "C5" not in cells
        finally:
            await mirror.close()
