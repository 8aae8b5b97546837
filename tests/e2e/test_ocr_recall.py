"""How well the text of a scene is read: pages of words in pixels, each by a program that tells which words it drew.

A word counts when the scene holds it exactly as drawn, case and punctuation included; no page has a word twice.
Words of a title bar, which the program did not draw, count against the precision.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from acud.types import DisplayInfo
from acud.types.scene import Scene, SceneMode
from tests.e2e.desktop import until
from tests.fixtures.daemon import Daemon

PROGRAM = Path(__file__).with_name("text_page.py")
SYSTEM_PYTHON = "/usr/bin/python3"
RECALL = {12: 0.95, 9: 0.85}
PRECISION = {12: 0.95, 9: 0.85}
COLOURS = {"light": ("#121212", "white"), "dark": ("#dbdbdb", "#1a1a1f")}


class Page(NamedTuple):
    """One screen of text."""

    kind: str
    ground: str
    seed: int


SHORT = Page("window", "light", 7)
LONG = [
    Page("window", "light", 1), Page("window", "dark", 2), Page("terminal", "light", 3), Page("terminal", "dark", 4),
    Page("window", "light", 5), Page("window", "dark", 6),
]  # fmt: skip


class Figures(NamedTuple):
    """Words drawn, words read, words that are both, and the time that the look took."""

    drawn: int
    read: int
    right: int
    ms: float
    wrong: str = ""

    @property
    def recall(self) -> float:
        return self.right / self.drawn

    @property
    def precision(self) -> float:
        return self.right / self.read if self.read else 0.0

    def __str__(self) -> str:
        return (
            f"{self.right} of {self.drawn} words: recall {self.recall:.1%}, precision {self.precision:.1%}, "
            f"{self.ms:.0f} ms{self.wrong}"
        )


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with Daemon() as running:
        running.client.timeout_s = 240.0  # dense pages take long on a busy machine, and their time is not judged
        yield running


@pytest.fixture
def display(daemon: Daemon) -> Iterator[DisplayInfo]:
    made = daemon.client.display_create(1000, 700).display
    yield made
    daemon.client.display_remove(made.name, force=True)


def command(page: Page, pixels: int, told: Path) -> list[str]:
    own = [SYSTEM_PYTHON, str(PROGRAM), page.kind, page.ground, str(pixels), str(page.seed), str(told)]
    if page.kind == "window":
        return own
    ink, paper = COLOURS[page.ground]
    face = f"DejaVu Sans Mono:pixelsize={pixels}"
    return ["xterm", "-fa", face, "-fg", ink, "-bg", paper, "-geometry", "100x36+10+10", "-e", *own]


def _read(daemon: Daemon, display: DisplayInfo) -> Scene | None:
    scene = daemon.client.refresh_scene(SceneMode.AGENT_TURN, [display.name])
    return scene if scene.providers[0].ocr.state == "ready" else None


def measured(daemon: Daemon, display: DisplayInfo, page: Page, pixels: int, told: Path) -> Figures:
    """Show the page, look once with nothing remembered of it, and compare."""
    env = {"DISPLAY": display.name, "XAUTHORITY": display.auth_file, "NO_AT_BRIDGE": "1", "LANG": "C.UTF-8"}
    program = subprocess.Popen(command(page, pixels, told), env={"PATH": os.environ["PATH"], **env})
    try:
        until(lambda: told.exists() or program.poll() is not None, f"{page} of {pixels} px")
        assert told.exists(), f"{page} of {pixels} px: the program ended with {program.returncode}"
        began = time.monotonic()
        scene = until(lambda: _read(daemon, display), "a reading, which may take longer than an answer waits for it")
        ms = (time.monotonic() - began) * 1000
    finally:
        program.kill()
        program.wait()
    drawn = Counter(told.read_text(encoding="utf-8").split("\n"))
    assert max(drawn.values()) == 1
    read = Counter(word for one in scene.ocr for word in one.text.split())
    missed, extra = (" ".join(sorted(one)) for one in (drawn - read, read - drawn))
    words = f"\n  not read: {missed}\n  not drawn: {extra}"
    return Figures(drawn.total(), read.total(), (drawn & read).total(), ms, words)


def together(pixels: int, pages: Iterable[tuple[Page, Figures]]) -> Figures:
    """Return the sum of all pages, with the mean time of a look; print each."""
    every = list(pages)
    for page, figures in every:
        print(f"{pixels} px, {page.kind}, {page.ground}: {figures}")
    drawn, read, right = (sum(figures[place] for _, figures in every) for place in range(3))
    words = "".join(figures.wrong for _, figures in every)
    total = Figures(drawn, read, right, sum(figures.ms for _, figures in every) / len(every), words)
    print(f"{pixels} px, {len(every)} pages: {total._replace(wrong='')}")
    return total


@pytest.mark.parametrize("pixels", RECALL)
def test_a_page_of_text(daemon: Daemon, display: DisplayInfo, tmp_path: Path, pixels: int) -> None:
    found = together(pixels, [(SHORT, measured(daemon, display, SHORT, pixels, tmp_path / "told"))])
    assert found.drawn >= 150
    assert found.recall >= RECALL[pixels], f"{pixels} px: {found}"
    assert found.precision >= PRECISION[pixels], f"{pixels} px: {found}"


@pytest.mark.long
@pytest.mark.parametrize("pixels", RECALL)
def test_pages_of_text_on_light_and_dark(daemon: Daemon, display: DisplayInfo, tmp_path: Path, pixels: int) -> None:
    pages = [
        (page, measured(daemon, display, page, pixels, tmp_path / f"told-{place}")) for place, page in enumerate(LONG)
    ]
    found = together(pixels, pages)
    assert found.drawn >= 600
    assert found.recall >= RECALL[pixels], f"{pixels} px: {found}"
    assert found.precision >= PRECISION[pixels], f"{pixels} px: {found}"
