"""Popups of combo boxes and lists of thousands, of each toolkit, against what the toolkit itself says and does."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from acud.accessibility.nodes import Limits, Node, Tree
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.mirror import Mirror
from acud.features.grounding.widget_match import match
from acud.types import Rect, WindowInfo
from tests.grounding.desktop import Desktop, missing

pytestmark = pytest.mark.skipif(not shutil.which("xdotool"), reason="no xdotool")
PATIENT = Limits(walk_s=30, answer_s=10, actions=True)
PLACES = {"gtk3": (0, 0), "gtk4": (0, 0), "PyQt5": (640, 0), "PyQt6": (640, 400)}
KINDS = ("gtk3", "gtk4", "PyQt5", "PyQt6")
COLOURS = ("Red", "Green", "Blue", "Violet", "Amber")


class Lists:
    """The programs, one of each toolkit, on one desktop, with the mirror that a scene would ask."""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop = desktop
        self.lacking = {kind: missing(kind) for kind in KINDS}
        self.shown: dict[str, Path] = {}
        for kind, (x, y) in PLACES.items():
            if not self.lacking[kind]:
                desktop.show("lists.py", kind, str(x), str(y))
                self.shown[kind] = desktop.folder / f"truth{len(self.shown) + 1}.json"

    def truth(self, kind: str) -> dict[str, Rect]:
        return {key: Rect(*box) for key, box in json.loads(self.shown[kind].read_text()).items()}

    def window(self, kind: str) -> WindowInfo:
        return next(one for one in self.desktop.windows() if one.title == f"Lists {kind}")

    def xdotool(self, *words: object) -> None:
        env = {**os.environ, **self.desktop.env()}
        subprocess.run(["xdotool", *map(str, words)], env=env, check=True, timeout=60)


@pytest.fixture(scope="module")
def lists() -> Iterator[Lists]:
    with Desktop() as desktop:
        yield Lists(desktop)


def _shown(lists: Lists, kind: str) -> None:
    if why := lists.lacking[kind]:
        pytest.skip(why)
    lists.xdotool("windowactivate", "--sync", lists.window(kind).window_id)


@asynccontextmanager
async def _mirror(lists: Lists) -> AsyncIterator[Mirror]:
    mirror = Mirror(AccessibilityBus(lists.desktop.bus_address, connect_s=30))
    try:
        yield mirror
    finally:
        await mirror.close()


async def _until(lists: Lists, mirror: Mirror, holds: Callable[[Tree], object]) -> Tree:
    tree = Tree()
    for _ in range(600):
        tree = await mirror.tree(0, PATIENT, lists.desktop.windows(), None)
        if holds(tree):
            return tree
        await asyncio.sleep(0.1)
    raise AssertionError(f"it never held: {[(n.role, n.name, n.box) for n in tree.nodes]}")


def _combo(tree: Tree, window: WindowInfo) -> Node | None:
    return next((n for n in tree.nodes if n.role == "combo box" and n.window == window.window_id), None)


def _popup(lists: Lists) -> WindowInfo | None:
    return next((one for one in lists.desktop.windows() if one.kind == "popup"), None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.asyncio
async def test_what_is_chosen_in_the_popup_of_a_combo_box(lists: Lists, kind: str) -> None:
    _shown(lists, kind)
    window, number = lists.window(kind), KINDS.index(kind) + 1
    wanted, other = COLOURS[number], COLOURS[2 if number == 1 else 1]
    async with _mirror(lists) as mirror:
        tree = await _until(lists, mirror, lambda tree: _combo(tree, window))
        combo = _combo(tree, window)
        assert combo is not None
        assert combo.box is not None
        assert not _options(tree, window, other), "a closed list tells its options"
        lists.xdotool("mousemove", combo.box.right - 10, combo.box.y + combo.box.h // 2, "click", 1)
        tree = await _until(lists, mirror, lambda tree: _is_open(_popup(lists), tree))
        popup = _popup(lists)
        assert popup is not None
        inside = [node for node in tree.nodes if node.window == popup.window_id and node.box is not None]
        assert all(popup.bounds.contains(node.box) for node in inside if node.box is not None)

        found = match(wanted, tree, lists.desktop.windows(), lists.desktop.screen)
        assert found.outcome == "sure", found
        point = found.candidates[0].point
        lists.xdotool("mousemove", point.x, point.y, "click", 1)
        lists.desktop.wait_for(lambda: lists.truth(kind)["chosen"].x == number, f"{wanted} to be chosen")
        await _until(lists, mirror, lambda tree: not _options(tree, window, other))


def _options(tree: Tree, window: WindowInfo, name: str) -> list[Node]:
    pids = {app.pid: index for index, app in enumerate(tree.apps)}
    return [node for node in tree.nodes if node.name == name and node.app == pids[window.pid]]


def _is_open(popup: WindowInfo | None, tree: Tree) -> bool:
    if popup is None:
        return False
    return {*COLOURS[1:]} <= {node.name for node in tree.nodes if node.window == popup.window_id}


@pytest.mark.parametrize("kind", ["gtk3", "PyQt5", "PyQt6"])
@pytest.mark.asyncio
async def test_of_a_list_of_thousands_the_rows_in_view_are_told(lists: Lists, kind: str) -> None:
    _shown(lists, kind)
    window = lists.window(kind)
    names = {"gtk3": "Row {0}"}.get(kind, "R{0} C{1}")
    rows = {names.format(*key.split("-")[1:]): box for key, box in lists.truth(kind).items() if key.startswith("row-")}

    def own(tree: Tree) -> list[Node]:
        return [node for node in tree.nodes if node.window == window.window_id]

    async with _mirror(lists) as mirror:
        tree = await _until(lists, mirror, lambda tree: {*rows} <= {node.name for node in own(tree)})
    for name, true in rows.items():
        (node,) = [node for node in own(tree) if node.name == name and node.role in ("push button", "table cell")]
        assert node.box is not None
        assert max(abs(node.box.x - true.x), abs(node.box.y - true.y), abs(node.box.h - true.h)) <= 3, (node, true)
    assert len(own(tree)) < 300
    assert tree.hidden > 2000
    assert (tree.truncated, tree.left_out, tree.gaps()) == ("", 0, ())
