"""The documentation site is whole: what scripts/site builds of docs/, and what it refuses to build."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

pytestmark = pytest.mark.timeout(400)
"""Sphinx takes eight seconds of a processor, and waits for another build."""


def build(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "site", *arguments], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site; scripts/site builds nothing where nothing changed, and one at a time."""
    done = build()
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build" / "site"


@pytest.fixture(scope="module")
def loads() -> ModuleType:
    """conf/site/loads.py, which needs Sphinx only where Sphinx calls it."""
    spec = importlib.util.spec_from_file_location("loads", ROOT / "conf" / "site" / "loads.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_built_and_in_the_navigation(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")
    sidebar = front[front.index("sidebar-tree") : front.index("</aside>")]
    for page in [*DOCS.glob("*.md"), *DOCS.glob("adr/*.md")]:
        built = page.relative_to(DOCS).with_suffix(".html")
        assert (site / built).is_file()
        assert page.name == "index.md" or f'href="{built}"' in sidebar


def test_agents_find_the_pages(site: Path) -> None:
    named = re.findall(r"\]\(([\w/.-]+\.html)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert len(named) > 30
    assert [page for page in named if not (site / page).is_file()] == []


def test_the_parts_of_the_navigation(site: Path) -> None:
    captions = re.findall(r'class="caption-text">([^<]+)<', (site / "index.html").read_text(encoding="utf-8"))
    assert {one.split(":")[0] for one in captions} == {
        "Tutorial", "How-to guides", "Reference", "Explanation", "Benchmarks",
    }  # fmt: skip


def test_no_page_is_listed_twice() -> None:
    listed = re.findall(
        r"^- \[[^\]]+\]\(([\w/.-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(listed) == len(set(listed))


def test_pictures_and_diagrams_are_there(site: Path) -> None:
    shown = re.compile(r'<img [^>]*src="([^"]+)"')
    for page in site.glob("*.html"):
        for address in shown.findall(page.read_text(encoding="utf-8")):
            assert (page.parent / address).is_file(), f"{page.name}: {address}"
    for name, diagrams in {"waiting": 1, "wakes": 1, "tasks": 2}.items():
        page = (site / f"{name}.html").read_text(encoding="utf-8")
        assert len(re.findall(r'<div class="diagram"[^>]*><svg ', page)) == diagrams


def test_nothing_comes_from_elsewhere(site: Path, loads: ModuleType) -> None:
    assert loads.outside(site) == []


@pytest.mark.parametrize("planted", [
    '<script src="https://cdn.example/x.js"></script>', '<link rel="stylesheet" href="//cdn.example/x.css">',
    '<img src="x.png" srcset="x.png 1x, https://cdn.example/x.png 2x">',
    "<style>@import 'http://cdn.example/x.css';</style>", '<p style="background: url(https://cdn.example/x.png)">',
])  # fmt: skip
def test_what_comes_from_elsewhere_is_found(tmp_path: Path, loads: ModuleType, planted: str) -> None:
    (tmp_path / "page.html").write_text(f'<a href="https://example.org">a link</a>{planted}', encoding="utf-8")
    assert len(loads.outside(tmp_path)) == 1


def test_links_and_pictures_of_ones_own_are_no_loads(tmp_path: Path, loads: ModuleType) -> None:
    (tmp_path / "page.html").write_text('<a href="https://example.org">a</a><img src="x.png">', encoding="utf-8")
    (tmp_path / "look.css").write_text("a { background: url(x.png) } /* see https://example.org */", encoding="utf-8")
    assert loads.outside(tmp_path) == []


FAULTS = {
    "links.md": ("# Links\n\n[gone](nowhere.md) and [no such part](index.md#nothing)\n", ["nowhere.md", "nothing"]),
    "picture.md": ("# Picture\n\n![gone](gone.png)\n", ["gone.png"]),
    "diagram.md": ("# Diagram\n\n```mermaid\nsequenceDiagram\n  a->>b: hello\n```\n", ["only stateDiagram-v2"]),
    "outside.md": ("# Outside of the navigation\n", ["isn't included in any toctree"]),
}


def test_faults_of_the_pages_fail_the_build_by_name(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    listed = "\n".join(f"- [{name}]({name})" for name in ["missing.md", *FAULTS] if name != "outside.md")
    (pages / "index.md").write_text(f"# A site\n\n## Tutorial\n\n{listed}\n", encoding="utf-8")
    for name, (text, _) in FAULTS.items():
        (pages / name).write_text(text, encoding="utf-8")
    done = build(pages, tmp_path / "out")
    assert done.returncode != 0
    told = done.stderr.splitlines()
    for name, (_, words) in FAULTS.items():
        for word in words:
            assert [line for line in told if name in line and word in line], f"{name}: {word}\n{done.stderr}"
    assert [line for line in told if "index.md" in line and "missing" in line]
    assert not (tmp_path / "out" / ".inputs").exists(), "a site that was refused is not up to date"


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("words", encoding="utf-8")
    done = build(DOCS, tmp_path)
    assert done.returncode == 2
    assert "no site" in done.stderr
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "words"


def test_links_to_pages_are_called_by_their_titles(site: Path) -> None:
    called = re.findall(
        r"<a [^>]*\binternal[^>]*>(?:<[^>]+>)*([^<]+)<", (site / "faq.html").read_text(encoding="utf-8")
    )
    assert [name for name in called if name.endswith(".md")] == []
    assert {"Container", "Scaling"} <= set(called)  # a section's title, and a page's
