"""The dashboard's files: small, and nothing in them that its content security policy would refuse."""

import re
from pathlib import Path

import pytest

from acud_web.pages import read_all

STATIC = Path(__file__).parents[3] / "clients" / "acud_web" / "static"
SCRIPTS = sorted(STATIC.rglob("*.js"))
MOST_BYTES = 375_000
PAGES = read_all()


def test_the_whole_page_is_small() -> None:
    """All files together as they are served, not compressed."""
    assert 50_000 < sum(len(page.data) for page in PAGES.values()) <= MOST_BYTES


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_served_without_their_comments_and_with_all_else(path: Path) -> None:
    """Comments become empty lines, so that lines keep their numbers; nothing is taken out of a text."""
    script, served = path.read_text(encoding="utf-8"), PAGES[path.relative_to(STATIC).as_posix()].data.decode()
    assert served.count("\n") == script.count("\n")
    texts = 0
    for line, sent in zip(script.splitlines(), served.splitlines(), strict=True):
        is_comment = line.lstrip().startswith(("//", "/**", "*")) and not line.partition("*/")[2].strip()
        assert sent == line or (not sent and is_comment and texts % 2 == 0), line
        texts += sent.count("`")


@pytest.mark.parametrize("name", ["index.html", "login.html"])
def test_pages_hold_no_scripts_and_no_styles_of_their_own(name: str) -> None:
    """Each script and style is a file of its own, which is there."""
    page = (STATIC / name).read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)
    asked = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert asked
    assert [one for one in asked if not (STATIC / one).is_file()] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_no_markup_of_what_they_are_told(path: Path) -> None:
    """Only `dom.js` makes elements, from names; no text of a daemon is ever parsed as HTML, nor run."""
    script = path.read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc"
    assert not re.search(forbidden, script)
    missing = [
        one for one in re.findall(r'(?:from|import\() ?"(\.[^"]+)"', script) if not (path.parent / one).is_file()
    ]
    assert missing == []
