"""Firefox, Chromium and an Electron application: what fields hold, lists, and browsers that tell nothing of a page.
Beside them a GTK 3 program: fields with a placeholder for a name, and with a role that says nothing of editing.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from acud.accessibility.nodes import FailedApp, Limits, Node, Tree
from acud.config import AccessibilitySettings
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.mirror import Mirror
from acud.evaluator.accessibility.reader import TreeReader
from acud.features.grounding.evaluator.accessibility import AccessibilityMethod
from acud.features.grounding.widget_match import match
from acud.protocol.questions import FindAsk
from acud.types import Rect, WindowInfo
from tests.grounding.browser import FirefoxPage, Page, firefox
from tests.grounding.desktop import Desktop, chromium, missing

pytestmark = pytest.mark.skipif(not shutil.which("xdotool"), reason="no xdotool")
LIMITS = Limits(walk_s=30, answer_s=10, actions=True)
ELECTRON = shutil.which("electron") or ""
MAIN = """
const {app, BrowserWindow} = require("electron");
app.whenReady().then(() => new BrowserWindow({width: 900, height: 700}).loadURL(process.env.PAGE));
"""
SPEAK = "--force-renderer-accessibility"
COLOURS = ("Red", "Green", "Blue", "Violet")


class AppPage(Page):
    """A page as Chromium shows an application: in a window without a bar, of a class of its own."""

    def _start(self, profile: Path, address: str) -> None:
        self._desktop.spawn(
            chromium(), "--no-sandbox", "--no-first-run", "--disable-gpu", "--test-type", "--password-store=basic",
            f"--user-data-dir={profile}", *self._flags, f"--app={address}",
            ACCESSIBILITY_ENABLED=str(int(SPEAK in self._flags)),
        )  # fmt: skip


class ElectronPage(Page):
    """A page in an Electron application."""

    def _start(self, profile: Path, address: str) -> None:
        profile.mkdir()
        (profile / "main.js").write_text(MAIN)
        (profile / "package.json").write_text('{"name": "values", "main": "main.js"}')
        self._desktop.spawn(ELECTRON, *self._flags, "--no-sandbox", "--disable-gpu", str(profile), PAGE=address)


KINDS: dict[str, tuple[str, type[Page], tuple[str, ...]]] = {
    "firefox": (firefox(), FirefoxPage, ()),
    "chromium": (chromium(), AppPage, (SPEAK, "--class=Speaking")),
    "electron": (ELECTRON, ElectronPage, (SPEAK,)),
    "mute": (chromium(), AppPage, ("--class=Mute",)),
}
"""Each browser's program, and how it is started. `mute`: as Electron starts without its switch."""
TELLING = ("firefox", "chromium", "electron")


class Browsers:
    """Each browser that this machine has, with values.html in it, and the GTK 3 program, on one desktop."""

    def __init__(self, desktop: Desktop, cleanup: ExitStack) -> None:
        self.desktop = desktop
        self.pages: dict[str, Page] = {}
        self._windows: dict[str, int] = {}
        for kind, (program, page, flags) in KINDS.items():
            if program:
                self.pages[kind] = cleanup.enter_context(page(desktop, "values.html", *flags))
                self._note_window(kind)
        if not missing("gtk3"):
            self._gtk3_truth = desktop.show("fields_gtk3.py")[1]
            self._note_window("gtk3")

    def _note_window(self, kind: str) -> None:
        self.desktop.wait_for(lambda: len(self._new()) == 1, f"the window of {kind}")
        (self._windows[kind],) = self._new()

    def _new(self) -> list[int]:
        return [one.window_id for one in self.desktop.windows() if one.window_id not in self._windows.values()]

    def truth(self, kind: str) -> dict[str, Rect]:
        return self.pages[kind].truth if kind in self.pages else self._gtk3_truth

    def raise_window(self, kind: str) -> WindowInfo:
        """Return the window of a program, once it is above all others."""
        if kind not in self._windows:
            pytest.skip(f"no {kind}")
        self.xdotool("windowactivate", "--sync", self._windows[kind])
        return self.window(kind)

    def window(self, kind: str) -> WindowInfo:
        return next(one for one in self.desktop.windows() if one.window_id == self._windows[kind])

    def xdotool(self, *words: object) -> None:
        env = {**os.environ, **self.desktop.env()}
        subprocess.run(["xdotool", *map(str, words)], env=env, check=True, timeout=60)

    def click(self, x: int, y: int) -> None:
        self.xdotool("mousemove", x, y, "click", 1)


@pytest.fixture(scope="module")
def browsers() -> Iterator[Browsers]:
    with Desktop() as desktop, ExitStack() as cleanup:
        yield Browsers(desktop, cleanup)


Ask = Callable[[], Awaitable[Tree]]
"""Reads the widgets now."""


@asynccontextmanager
async def _mirror(browsers: Browsers) -> AsyncIterator[Ask]:
    mirror = Mirror(AccessibilityBus(browsers.desktop.bus_address, connect_s=30))
    try:
        yield lambda: mirror.tree(0, LIMITS, browsers.desktop.windows(), None)
    finally:
        await mirror.close()


async def _until(ask: Ask, holds: Callable[[Tree], object]) -> Tree:
    tree = Tree()
    for _ in range(600):
        tree = await ask()
        if holds(tree):
            return tree
        await asyncio.sleep(0.1)
    raise AssertionError(f"it never held: {[(n.role, n.name, n.text, n.box) for n in tree.nodes]}")


def _own(tree: Tree, window: WindowInfo, name: str) -> list[Node]:
    return [node for node in tree.nodes if tree.apps[node.app].pid == window.pid and node.name == name]


_FIELDS = ("Name", "Notes", "Amount", "Secret", "Blank")


def _is_told(tree: Tree, window: WindowInfo) -> bool:
    """Tell whether the page is told to its end: Firefox tells some attributes a moment after the rest."""
    is_hinted = any(node.description == "a hint" for node in _own(tree, window, "Blank"))
    return is_hinted and all(_own(tree, window, name) for name in (*_FIELDS, "Under the list"))


def _field(tree: Tree, window: WindowInfo, name: str) -> Node:
    (found,) = [node for node in _own(tree, window, name) if node.role not in ("label", "static")]
    return found


@pytest.mark.parametrize("kind", TELLING)
@pytest.mark.asyncio
async def test_what_the_fields_of_a_page_hold_and_what_its_list_offers(browsers: Browsers, kind: str) -> None:
    window, page = browsers.raise_window(kind), browsers.pages[kind]
    number = [*TELLING].index(kind) + 1
    async with _mirror(browsers) as ask:
        tree = await _until(ask, lambda tree: _is_told(tree, window))
        fields = {name: _field(tree, window, name) for name in _FIELDS}
        texts = {name: field.text for name, field in fields.items()}
        assert texts == {
            "Name": "Ann Smith", "Notes": "first line\nsecond line", "Amount": "42", "Secret": "", "Blank": "",
        }  # fmt: skip
        assert (fields["Secret"].secure, fields["Blank"].description) == (True, "a hint")
        assert "hunter2" not in repr(tree)
        for name, field in fields.items():
            true = page.truth[name.lower()]
            assert field.box is not None
            assert max(abs(field.box.x - true.x), abs(field.box.y - true.y), abs(field.box.h - true.h)) <= 4, name

        combo = _field(tree, window, "Colour")
        assert combo.box is not None
        browsers.click(combo.box.x + combo.box.w // 2, combo.box.y + combo.box.h // 2)

        def open_(tree: Tree) -> WindowInfo | None:
            popups = (one for one in browsers.desktop.windows() if one.kind == "popup")
            is_in = lambda one: {*COLOURS} <= {node.name for node in tree.nodes if node.window == one.window_id}  # noqa: E731
            return next((one for one in popups if is_in(one)), None)

        tree = await _until(ask, open_)
        popup = open_(tree)
        assert popup is not None
        items = [node for node in tree.nodes if node.window == popup.window_id and node.box is not None]
        assert all(popup.bounds.contains(node.box) for node in items if node.box is not None)
        found = match(COLOURS[number], tree, browsers.desktop.windows(), browsers.desktop.screen)
        assert found.outcome == "sure", found
        point = found.candidates[0].point
        browsers.click(point.x, point.y)
        browsers.desktop.wait_for(lambda: page.truth["chosen"].x == number, f"{COLOURS[number]} to be chosen")


@pytest.mark.asyncio
async def test_a_browser_that_tells_nothing_of_its_page_is_named_with_its_switch(browsers: Browsers) -> None:
    pid = browsers.raise_window("mute").pid
    reason = f"it is not on the accessibility bus; if that stays so, start it with ACCESSIBILITY_ENABLED=1 and {SPEAK}"
    async with _mirror(browsers) as ask:
        tree = await _until(ask, lambda tree: len(tree.silent) == 1)
        assert tree.silent == (FailedApp("Mute", pid, reason),)
        assert (tree.failed, tree.gaps()) == ((), (f"Mute: {reason}",))
    method = AccessibilityMethod(AccessibilitySettings(walk_s=30, answer_s=10))
    try:
        asked = FindAsk(
            "the Frobnicate button", (), windows=browsers.desktop.windows(), bus_address=browsers.desktop.bus_address
        )
        tried, candidates = await method.search(asked, browsers.desktop.screen)
    finally:
        await method.close()
    assert (tried.outcome, candidates) == ("unavailable", ())
    assert SPEAK in tried.reason


@pytest.mark.parametrize("kind", [*TELLING, "gtk3"])
@pytest.mark.asyncio
async def test_fields_that_tell_little_of_themselves_are_found(browsers: Browsers, kind: str) -> None:
    """A placeholder names a field and is never its value; what can be edited is a field, whatever its role."""
    window, truth = browsers.raise_window(kind), browsers.truth(kind)
    wanted = {"Search orders", *(("Write a note", "Real name", "for example Ann") if "note" in truth else ())}

    def is_told(tree: Tree) -> bool:
        told = {words for one in tree.nodes for words in (one.name, one.placeholder)}
        return any("paid" in one.text for one in tree.nodes) and wanted <= told

    bus = AccessibilityBus(browsers.desktop.bus_address, connect_s=30)
    reader = TreeReader(bus)
    try:
        tree = await _until(lambda: reader.read(browsers.desktop.windows(), LIMITS, {window.pid}), is_told)
    finally:
        await bus.close()

    def find(description: str) -> str:
        """Return the key of the field that a description finds."""
        answer = match(description, tree, browsers.desktop.windows(), browsers.desktop.screen, verb="type")
        assert answer.outcome == "sure", (description, answer)
        point = answer.candidates[0].point
        return next((key for key, box in truth.items() if box.holds(point.x, point.y)), "")

    def at(key: str, *roles: str) -> list[Node]:
        x, y = truth[key].x + truth[key].w // 2, truth[key].y + truth[key].h // 2
        return [node for node in tree.nodes if node.box is not None and node.box.holds(x, y) and node.role in roles]

    assert find("the search orders field") == "orders"
    assert find("the 'Filter rows' field") == "rows"
    (orders,), (rows,) = at("orders", "entry", "text"), at("rows", "entry", "text")
    assert (orders.text, rows.text) == ("", "paid")
    assert "Search orders" in (orders.placeholder, orders.name)
    if "note" in truth:
        (note,), (real,) = at("note", "entry"), at("real", "entry")
        assert (note.placeholder, note.text) == ("Write a note", "")
        assert (real.name, real.placeholder, real.text) == ("Real name", "for example Ann", "")
    key, words = ("odd", "in a panel") if "odd" in truth else ("draft", "Dear")
    (field,) = at(key, "entry")
    assert words in field.text
    assert not at("words", "entry")
    assert find("the odd words field" if key == "odd" else "the Draft field") == key
