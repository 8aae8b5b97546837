"""Qt, GTK 4 and Chromium through the reader: roles, names and places against their own geometry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import pytest

from acud.accessibility.nodes import Limits, Node, State, Tree
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.reader import TreeReader
from acud.types import Rect
from tests.grounding import screens
from tests.grounding.desktop import Desktop
from tests.grounding.run import settled

_PX = 4
"""Toolkits round, and draw a frame around a switch or leave it out."""


async def _read(desktop: Desktop, *names: str) -> Tree:
    """Read until widgets of these names are placed, or for so long in vain: a page is told after its browser."""
    await settled(desktop)
    bus = AccessibilityBus(desktop.bus_address, connect_s=30)
    until = time.monotonic() + 60
    try:
        while True:
            tree = await TreeReader(bus).read(desktop.windows(), Limits(walk_s=30, answer_s=10))
            if {*names} <= {node.name for node in tree.nodes if node.box} or time.monotonic() > until:
                return tree
            await asyncio.sleep(0.1)
    finally:
        await bus.close()


def _agree(tree: Tree, truth: Mapping[str, Rect], wanted: Mapping[str, tuple[str, str]]) -> None:
    """Check that each widget of `wanted` (key: role, name) is there once, inside its true box, at its left
    edge or in its middle.
    """
    for key, (role, name) in wanted.items():
        found = [node for node in tree.nodes if (node.role, node.name) == (role, name) and _lies_in(node, truth[key])]
        assert len(found) == 1, (key, truth[key], [(n.role, n.name, n.box) for n in tree.nodes if n.name == name])


def _lies_in(node: Node, true: Rect) -> bool:
    box = node.box
    if box is None or min(abs(box.x - true.x), abs(box.x + box.w / 2 - true.x - true.w / 2)) > _PX:
        return False
    return Rect(true.x - _PX, true.y - _PX, true.w + 2 * _PX, true.h + 2 * _PX).contains(box)


def _shown(screen: str) -> object:
    if why := screens.lacking(screen):
        pytest.skip(why)
    return screens.shown(screen)


@pytest.mark.parametrize("screen", ["preferences", "login"], ids=["Qt 5", "Qt 6"])
def test_qt(screen: str) -> None:
    wanted = {
        "preferences": {
            "ok": ("push button", "OK"), "t-network": ("page tab", "Network"),
            "restore": ("check box", "Restore last session"), "volume": ("slider", "Volume:"),
            "b-browse": ("push button", "Browse..."),
        },
        "login": {
            "user": ("text", "User name"), "pass": ("password text", "Password"), "signin": ("push button", "Sign in"),
        },
    }[screen]  # fmt: skip
    with _shown(screen) as (desktop, truth):  # type: ignore[attr-defined]
        tree = asyncio.run(_read(desktop, *(name for _, name in wanted.values())))
    _agree(tree, truth, wanted)
    assert (tree.failed, tree.truncated) == ((), "")
    assert all(node.secure == (node.role == "password text") for node in tree.nodes)


def test_gtk_4_is_placed_by_its_window() -> None:
    wanted = {"done": "Done", "reset": "Reset device", "reboot": "Reboot"}
    with _shown("settings") as (desktop, truth):  # type: ignore[attr-defined]
        tree = asyncio.run(_read(desktop, *wanted.values()))
    for key, name in wanted.items():
        assert any((n.role, n.name) == ("push button", name) and _lies_in(n, truth[key]) for n in tree.nodes), (
            key,
            truth[key],
        )
    assert not any(n.text for n in tree.nodes)


def test_a_form_in_chromium() -> None:
    wanted = {
        "order": ("push button", "Place order"), "home": ("link", "Home"), "s-name": ("entry", "Full name"),
        "s-city": ("entry", "City"), "b-city": ("entry", "City"), "card": ("radio button", "Credit card"),
        "paypal": ("push button", "Pay with PayPal"),
    }  # fmt: skip
    with _shown("checkout") as (desktop, truth):  # type: ignore[attr-defined]
        tree = asyncio.run(_read(desktop, *(name for _, name in wanted.values())))
    _agree(tree, truth, wanted)
    (disabled,) = [node for node in tree.nodes if node.name == "Pay with PayPal" and node.role == "push button"]
    assert not disabled.is_enabled
    assert any(node.role == "check box" and node.has(State.CHECKABLE) for node in tree.nodes)
