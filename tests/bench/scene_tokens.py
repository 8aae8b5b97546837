"""What an agent is told of five web pages, beside Playwright's ARIA snapshot of the same pages in the same browser.

A Chromium stands on a managed display of a real daemon; Playwright is connected to that browser. For each page of
`scene_pages`, `tokens` are those of the whole answer of the MCP tool `scene` at its default size, `aria_tokens` those
of `page.locator("body").aria_snapshot()`. `x_aria` is the mean of their ratios. The answer also tells the window and
the browser's own controls, which the snapshot does not: `x_aria_page` counts only what is told of the page. The
snapshot tells the whole document, and so does the answer.

`widgets_missing`: visible links, buttons, fields and elements with the role of one, by the page's own DOM, that have no
line with an id in the answer; a line is that element when its box is. `tokenizer`: o200k of npm's gpt-tokenizer, or
`characters/4` where npm can't bring it.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp import types
from playwright.async_api import Page, async_playwright

from acud.types import DisplayInfo, Rect
from acud.types.scene import Scene
from tests.bench._tokens import counter
from tests.e2e.mcp_support import stdio
from tests.fixtures.daemon import Daemon

PAGES = Path(__file__).with_name("scene_pages")
_FLAGS = (
    "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu", "--test-type",
    "--start-maximized", "--password-store=basic", "--disable-background-networking", "--remote-debugging-port=0",
)  # fmt: skip
_DEADLINE_S = 90.0
_WIDGETS = """() => {
  const query = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=true],' +
    ['button','link','checkbox','radio','switch','tab','textbox','combobox','slider','spinbutton','menuitem',
     'menuitemcheckbox','menuitemradio','option','searchbox','treeitem'].map(r => `[role=${r}]`).join(',');
  return [...document.querySelectorAll(query)].filter(e => e.checkVisibility({visibilityProperty: true}) &&
      !e.closest('[aria-hidden=true]')).map(e => {
    const b = e.getBoundingClientRect();
    const name = e.ariaLabel || e.innerText || (e.labels && e.labels[0] && e.labels[0].innerText) || e.placeholder ||
      e.title || '';
    return {tag: e.tagName.toLowerCase(), name: name.trim().slice(0, 60), box: [b.x, b.y, b.width, b.height]};
  }).filter(e => e.box[2] > 0 && e.box[3] > 0);
}"""
_ID = re.compile(r"^[ ]*(a\d+-\d+) ", re.MULTILINE)


def run() -> dict[str, Any]:
    return asyncio.run(_measured())


async def _measured() -> dict[str, Any]:
    count, tokenizer = counter()
    with Daemon() as daemon:
        made = daemon.client.display_create(1280, 800).display
        with _browser(daemon, made) as url:
            async with async_playwright() as playwright:
                page = (await playwright.chromium.connect_over_cdp(url)).contexts[0].pages[0]
                files = sorted(PAGES.glob("*.html"))
                pages = {one.stem: await _page(daemon, made, page, one, count) for one in files}
    return {
        "x_aria": round(statistics.fmean(one["tokens"] / one["aria_tokens"] for one in pages.values()), 3),
        "x_aria_page": round(statistics.fmean(one["page_tokens"] / one["aria_tokens"] for one in pages.values()), 3),
        "widgets": sum(one["widgets"] for one in pages.values()),
        "widgets_missing": sum(len(one["missing"]) for one in pages.values()),
        "characters_per_token": min(one["characters"] / one["tokens"] for one in pages.values()),
        "tokenizer": tokenizer,
        "pages": pages,
    }


def table(figures: dict[str, Any]) -> str:
    lines = [
        f"{name:<10} {one['tokens']:>6} tokens, ARIA snapshot {one['aria_tokens']:>6},"
        f" page alone {one['page_tokens']:>6}; {len(one['missing'])} of {one['widgets']} widgets missing"
        for name, one in figures["pages"].items()
    ]
    told = f"x_aria {figures['x_aria']}, page alone {figures['x_aria_page']}, by {figures['tokenizer']}"
    return "\n".join([*lines, told, f"widgets_missing {figures['widgets_missing']}"])


@contextmanager
def _browser(daemon: Daemon, made: DisplayInfo) -> Iterator[str]:
    """Run a Chromium on the display; yield the address of its debugger."""
    profile = daemon.home / "chromium"
    own = {"DISPLAY": made.name, "XAUTHORITY": made.auth_file, "DBUS_SESSION_BUS_ADDRESS": made.bus_address}
    command = ["chromium", *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
    env = {**os.environ, **own, "HOME": str(daemon.home)}
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            port_file = profile / "DevToolsActivePort"
            _until(lambda: port_file.exists() and port_file.read_text().count("\n"), "the browser")
            yield f"http://127.0.0.1:{int(port_file.read_text().split()[0])}"
        finally:
            program.terminate()


async def _page(
    daemon: Daemon, made: DisplayInfo, page: Page, file: Path, count: Callable[[str], int]
) -> dict[str, Any]:
    await page.goto(file.as_uri())
    title = await page.title()
    _until(lambda: _document(daemon.client.refresh_scene(displays=[made.name]), title), f"the widgets of {file.name}")
    text = await _answer(daemon, made)
    scene = daemon.client.current_scene([made.name])
    snapshot = await page.locator("body").aria_snapshot()
    wanted = await page.evaluate(_WIDGETS)
    return {
        "tokens": count(text),
        "page_tokens": count(_part_of_page(text)),
        "aria_tokens": count(snapshot),
        "characters": len(text),
        "aria_characters": len(snapshot),
        "widgets": len(wanted),
        "missing": _missing(scene, text, wanted, title),
    }


def _document(scene: Scene, title: str) -> Rect | None:
    """Return where the page of that title begins, or None while it is not told."""
    found = [one for one in scene.ax if one.role == "document web" and one.label == title]
    return found[0].bbox if found and any(one.parent == found[0].id for one in scene.ax) else None


async def _answer(daemon: Daemon, made: DisplayInfo) -> str:
    async with stdio(daemon.home) as client:
        (block,) = (await client.call_tool("scene", {"display": made.name})).content
    assert isinstance(block, types.TextContent)
    return block.text


def _part_of_page(text: str) -> str:
    """Return the lines of the page: those that are deeper than its own."""
    lines = text.splitlines()
    begin = next(index for index, line in enumerate(lines) if re.fullmatch(r"a\d+-\d+ page", line))
    inner = iter(lines[begin + 1 :])
    return "\n".join([lines[begin], *_while_deep(inner)])


def _while_deep(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith((" ", "(")):
            return
        yield line


def _missing(scene: Scene, text: str, wanted: list[dict[str, Any]], title: str) -> list[str]:
    """Return what is on the page and has no line of its own, by tag and name."""
    origin = _document(scene, title)
    assert origin is not None
    told = set(_ID.findall(text))
    boxes = [one.bbox for one in scene.ax if one.id in told]
    missing = []
    for one in wanted:
        x, y, w, h = one["box"]
        near = (box for box in boxes if _same(box, (origin.x + x, origin.y + y, w, h)))
        found = next(near, None)
        if found is None:
            missing.append(f"{one['tag']} {one['name']!r}")
        else:
            boxes.remove(found)
    return missing


def _same(box: Rect, other: tuple[float, float, float, float]) -> bool:
    x, y, w, h = other
    return all(abs(a - b) <= 3 for a, b in zip((box.x, box.y, box.w, box.h), (x, y, w, h), strict=True))


def _until(holds: Callable[[], object], what: str) -> None:
    give_up_s = time.monotonic() + _DEADLINE_S
    while not holds():
        if time.monotonic() > give_up_s:
            raise TimeoutError(f"{what} did not come")
        time.sleep(0.2)
