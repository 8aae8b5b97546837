"""The documentation site in a real browser, opened as files: it asks nobody for anything, its search finds, no page is
wider than a phone."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, expect

from tests.e2e.chromium import PATIENCE_MS, Chromium, is_there, serious

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
PHONE = 390

pytestmark = [pytest.mark.skipif(not is_there(), reason="there is no chromium here"), pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    done = subprocess.run([ROOT / "scripts" / "site"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with Chromium() as running:
        yield running


@pytest.fixture
def faults() -> list[str]:
    """What pages asked of others, or complained of."""
    return []


@pytest.fixture
def page(browser: Chromium, faults: list[str]) -> Iterator[Page]:
    """A page as wide as a phone."""
    context = browser.browser.new_context(viewport={"width": PHONE, "height": 800}, offline=True)
    context.set_default_timeout(PATIENCE_MS)
    yield _watched(context, faults)
    context.close()


def _watched(context: BrowserContext, faults: list[str]) -> Page:
    def asked(request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            faults.append(request.url)

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(message.text)

    page = context.new_page()
    page.on("request", asked)
    page.on("requestfailed", lambda request: faults.append(f"failed: {request.url}"))
    page.on("console", said)
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    return page


def test_no_page_is_wider_than_a_phone_or_asks_anybody(page: Page, faults: list[str]) -> None:
    pages = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
    assert len(pages) > 30
    for path in pages:
        page.goto(path.as_uri(), wait_until="load")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE, path.name
        assert faults == [], path.name


def test_readers_go_on_and_back_and_choose_their_colours(page: Page, faults: list[str]) -> None:
    page.goto((SITE / "concepts.html").as_uri())
    page.locator(".related-pages a.next-page").click()
    expect(page.locator("h1")).to_contain_text("Recipes")
    page.locator(".related-pages a.prev-page").click()
    expect(page.locator("h1")).to_contain_text("Concepts")
    seen = set()
    for _ in range(3):  # light, dark, as the system says
        page.locator(".theme-toggle:visible").first.click()
        seen.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(seen) == 2
    assert faults == []


def test_the_search_finds_without_a_network(page: Page, faults: list[str]) -> None:
    page.goto((SITE / "search.html").as_uri() + "?q=dhash")
    expect(page.locator("#search-results .search-summary")).to_contain_text("found")
    expect(page.locator("#search-results li").first.locator("a")).to_be_visible()
    found = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert any("waiting.html" in address for address in found)
    page.goto((SITE / "search.html").as_uri() + "?q=xyzzyplugh")
    expect(page.locator("#search-results")).to_contain_text("did not match any documents")
    assert faults == []


@pytest.mark.parametrize("width", [1440, PHONE])
def test_the_search_answers_while_one_types_and_what_people_wrote_comes_first(
    browser: Chromium, faults: list[str], width: int
) -> None:
    context = browser.browser.new_context(viewport={"width": width, "height": 800}, offline=True)
    context.set_default_timeout(PATIENCE_MS)
    page = _watched(context, faults)
    answers = page.locator("#answers li")
    for start in ("index.html", "adr/0001-one-turn-one-transaction.html"):
        page.goto((SITE / start).as_uri())
        if width == PHONE:
            page.locator("label[for=__navigation]:visible").first.click()
        page.locator(".sidebar-search").press_sequentially("dhas")
        expect(answers.first).to_be_visible()
        kinds = answers.evaluate_all("found => found.map(one => one.className)")
        assert kinds == sorted(kinds)
        assert kinds[0] == ""
        assert "made" in kinds, "the protocol names it as well, and stands last"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator(".sidebar-search").press_sequentially("hxyzzy")
        expect(page.locator("#answers")).to_have_text("No page has these words.")
        page.locator(".sidebar-search").fill("takeover")
        answers.first.locator("a").click()
        expect(page.locator("h1, h2").first).to_be_visible()
        assert page.url.startswith(SITE.as_uri())
    assert faults == []
    context.close()


def test_pages_can_be_read_by_everybody(page: Page) -> None:
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    names = ("index", "waiting", "concepts", "recipes", "troubleshooting")
    for name, scheme in zip(names, itertools.cycle(schemes), strict=False):
        page.emulate_media(color_scheme=scheme)
        page.goto((SITE / f"{name}.html").as_uri())
        assert serious(page) == [], name
