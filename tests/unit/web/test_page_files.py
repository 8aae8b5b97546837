"""The dashboard's files: small, and nothing in them that its content security policy would refuse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[3] / "clients" / "acud_web" / "static"
MOST_BYTES = 400_000


def test_the_whole_page_is_small() -> None:
    """All files together, not compressed."""
    assert 50_000 < sum(path.stat().st_size for path in STATIC.iterdir()) <= MOST_BYTES


@pytest.mark.parametrize("name", ["index.html", "login.html"])
def test_pages_hold_no_scripts_and_no_styles_of_their_own(name: str) -> None:
    """Each script and style is a file of its own, which is there."""
    page = (STATIC / name).read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)
    asked = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert asked
    assert [one for one in asked if not (STATIC / one).is_file()] == []


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_scripts_make_no_markup_of_what_they_are_told(path: Path) -> None:
    """Only `dom.js` makes elements, from names; no text of a daemon is ever parsed as HTML, nor run."""
    script = path.read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc"
    assert not re.search(forbidden, script)
    missing = [one for one in re.findall(r'from "\./([^"]+)"', script) if not (STATIC / one).is_file()]
    assert missing == []
