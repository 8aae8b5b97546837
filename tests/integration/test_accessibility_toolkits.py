"""GTK, Qt and Chromium through the reader: their widgets are where their own geometry has them, and are what an
independent reader of the same bus tells, libatspi through python3-pyatspi.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple

import pytest

from acud.accessibility.nodes import Node, State, Tree, role_name
from acud.evaluator.accessibility.browsers import tab_title
from acud.evaluator.accessibility.widget import clean
from acud.types import Rect
from tests.grounding import screens
from tests.grounding.desktop import SYSTEM_PYTHON, Desktop, missing
from tests.grounding.run import settled
from tests.integration.mirror_rig import LONG_S, PATIENT, agreed, fresh, mirror_of

_PX = 4
"""Toolkits round, and draw a frame around a switch or leave it out."""
WANTED = {
    "contact_form": {},
    "preferences": {
        "ok": ("push button", "OK"), "t-network": ("page tab", "Network"),
        "restore": ("check box", "Restore last session"), "volume": ("slider", "Volume:"),
        "b-browse": ("push button", "Browse..."),
    },
    "login": {
        "user": ("text", "User name"), "pass": ("password text", "Password"), "signin": ("push button", "Sign in"),
    },
    "settings": {
        "done": ("push button", "Done"), "reset": ("push button", "Reset device"), "reboot": ("push button", "Reboot"),
    },
    "checkout": {
        "order": ("push button", "Place order"), "home": ("link", "Home"), "s-name": ("entry", "Full name"),
        "s-city": ("entry", "City"), "b-city": ("entry", "City"), "card": ("radio button", "Credit card"),
        "paypal": ("push button", "Pay with PayPal"),
    },
}  # fmt: skip
"""Of some widgets of each screen, by key: role and name."""


class Screen(NamedTuple):
    name: str
    desktop: Desktop
    truth: dict[str, Rect]


@pytest.fixture(scope="module", params=WANTED)
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    if why := screens.lacking(request.param):
        pytest.skip(why)
    with screens.shown(request.param) as (desktop, truth):
        asyncio.run(settled(desktop))
        yield Screen(request.param, desktop, truth)


def _lies_in(node: Node, true: Rect) -> bool:
    box = node.box
    if box is None or min(abs(box.x - true.x), abs(box.x + box.w / 2 - true.x - true.w / 2)) > _PX:
        return False
    return Rect(true.x - _PX, true.y - _PX, true.w + 2 * _PX, true.h + 2 * _PX).contains(box)


def test_widgets_are_inside_their_true_boxes(screen: Screen) -> None:
    """At the left edge or in the middle, each once."""
    wanted = WANTED[screen.name]
    until = time.monotonic() + 60
    while True:  # a page is told after its browser
        tree = asyncio.run(fresh(screen.desktop))
        if {name for _, name in wanted.values()} <= {n.name for n in tree.nodes if n.box} or time.monotonic() > until:
            break
    for key, (role, name) in wanted.items():
        there = [n for n in tree.nodes if (n.role, n.name) == (role, name) and _lies_in(n, screen.truth[key])]
        assert len(there) == 1, (key, screen.truth[key], [(n.role, n.name, n.box) for n in tree.nodes])
    assert (tree.failed, tree.truncated) == ((), "")
    if screen.name in ("preferences", "login"):
        assert all(node.secure == (node.role == "password text") for node in tree.nodes)
    if screen.name == "settings":
        assert not any(node.text for node in tree.nodes)
    if screen.name == "checkout":
        (disabled,) = [n for n in tree.nodes if (n.name, n.role) == ("Pay with PayPal", "push button")]
        assert not disabled.is_enabled
        assert any(node.role == "check box" and node.has(State.CHECKABLE) for node in tree.nodes)


# ---- libatspi ------------------------------------------------------------------------------------------------------

Told = tuple[int, str, str, Rect | None]
"""A widget's depth, role, name and place."""


def _dump(desktop: Desktop, pid: int) -> list[Told]:
    run = subprocess.run(
        [SYSTEM_PYTHON, str(Path(__file__).with_name("pyatspi_dump.py")), str(pid)],
        env=desktop.env(), capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    told = ((depth, role_name(role), clean(name), box) for depth, role, name, *box in json.loads(run.stdout))
    return [
        (depth, role, tab_title(name) if role == "page tab" else name, Rect(*box) if box[2] else None)
        for depth, role, name, box in told
    ]


def _shown(dump: list[Told]) -> Iterator[Told]:
    """Leave out the list of a combo box that is closed, with its rows: Qt 5 tells it as showing, without a place."""
    around: dict[int, str] = {}
    closed = len(dump)
    for depth, role, name, box in dump:
        around[depth] = role
        if depth <= closed:
            closed = len(dump)
            if (role, around.get(depth - 1), box) == ("list", "combo box", None):
                closed = depth
        if depth < closed:
            yield depth, role, name, box


def _own(tree: Tree) -> list[Node]:
    """The widgets of the application with the most of them."""
    most = max(range(len(tree.apps)), key=lambda app: sum(node.app == app for node in tree.nodes))
    return [node for node in tree.nodes if node.app == most]


# It places the widgets of GTK 4 as if their window were at 0,0.
@pytest.mark.parametrize("screen", [name for name in WANTED if name != "settings"], indirect=True)
@pytest.mark.skipif(bool(missing("pyatspi")), reason=missing("pyatspi") or "-")
def test_it_is_what_libatspi_reads(screen: Screen) -> None:
    desktop = screen.desktop

    async def read_mirror(desktop: Desktop) -> Tree:
        mirror = mirror_of(desktop)
        await agreed(mirror, desktop, lambda: None)
        try:
            return await mirror.tree(LONG_S, PATIENT, desktop.windows(), None)
        finally:
            await mirror.close()

    def both() -> tuple[list[Told], list[Told]]:
        """Return what is read here, and what libatspi reads."""
        tree = asyncio.run(read_mirror(desktop))
        nodes = _own(tree)
        theirs = [*_shown(_dump(desktop, tree.apps[nodes[0].app].pid))]
        ours = _labelled(nodes, theirs)
        # A top level that fits no window has no place here, nor has what is in it, whatever they say.
        placeless = False
        for at, one in enumerate(ours[: len(theirs)]):
            placeless = one[-1] is None if one[0] == 0 else placeless
            if placeless and one[-1] is None:
                theirs[at] = (*theirs[at][:-1], None)
        return ours, theirs

    until = time.monotonic() + 60
    while (told := both())[0] != told[1] and time.monotonic() < until:
        pass  # a page is told after its browser
    ours, theirs = told
    assert len(ours) > 5
    assert ours == theirs


def _labelled(nodes: list[Node], theirs: list[Told]) -> list[Told]:
    labelled = {"text", "entry", "combo box", "slider", "check box", "spin button", "password text", "radio button"}
    named = chain((name for _, _, name, _ in theirs), repeat("-"))
    return [
        # A field without a name is given its label's; libatspi says "".
        (node.depth, node.role, "" if not their_name and node.role in labelled else node.name, node.box)
        for node, their_name in zip(nodes, named, strict=False)
    ]
