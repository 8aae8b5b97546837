"""Chromium: a text area takes every script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.types.actions import Click, Key, Point, TypeText
from tests.integration.input_rig import HandsRig
from tests.integration.input_texts import MANY, TEXTS
from tests.integration.xserver import XServer

_PAGE = """<title>start</title><body style="margin:0">
<textarea style="width:95vw;height:90vh" oninput="document.title = 'typed ' + encodeURIComponent(this.value)">
</textarea>"""
_SLICE = 30
"""Characters at a time: a title is told up to 500 characters, and each takes up to 12 in it."""


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[HandsRig]:
    if shutil.which("chromium") is None:
        pytest.skip("no chromium here")
    page = tmp_path / "page.html"
    page.write_text(_PAGE)
    with XServer(800, 600) as server, HandsRig(server) as rig:
        server.launch("chromium", "--no-sandbox", f"--user-data-dir={tmp_path}", "--no-first-run", "--disable-gpu",
                      f"--app=file://{page}")  # fmt: skip
        rig.windows_where(lambda w: any("start" in info.title for info in w.windows))
        yield rig


def encoded(text: str) -> str:
    """Return what encodeURIComponent makes of `text`."""
    kept = "-_.!~*'()"
    return "".join(
        c if c.isascii() and (c.isalnum() or c in kept) else "".join(f"%{b:02X}" for b in c.encode()) for c in text
    )


@pytest.mark.long
def test_a_text_area_takes_every_script(rig: HandsRig) -> None:
    rig.do(Click(Point(300, 300)))
    for text in (*TEXTS.values(), MANY):
        for part in (text[n : n + _SLICE] for n in range(0, len(text), _SLICE)):
            rig.do(Key("ctrl+a Delete"))
            rig.do(TypeText(part))
            wanted = "typed " + encoded(part)
            rig.windows_where(lambda w, wanted=wanted: any(wanted in info.title for info in w.windows))  # type: ignore[misc]
