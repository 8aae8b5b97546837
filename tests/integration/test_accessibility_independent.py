"""The reader and the mirror against an independent reader of the same bus: libatspi through python3-pyatspi."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest

from acud.accessibility.nodes import Node, Tree, role_name
from acud.evaluator.accessibility.browsers import tab_title
from acud.evaluator.accessibility.widget import clean
from acud.types import Rect
from tests.grounding import screens
from tests.grounding.desktop import SYSTEM_PYTHON, Desktop, missing
from tests.grounding.run import settled
from tests.integration.mirror_rig import LONG_S, PATIENT, agreed, mirror_of

pytestmark = pytest.mark.skipif(bool(missing("pyatspi")), reason=missing("pyatspi") or "-")

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


@pytest.mark.parametrize(
    "screen", ["contact_form", "preferences", "login", "checkout"], ids=["GTK 3", "Qt 5", "Qt 6", "Chromium"]
)
def test_it_is_what_libatspi_reads(screen: str) -> None:
    if why := screens.lacking(screen):
        pytest.skip(why)

    async def held(desktop: Desktop) -> Tree:
        await settled(desktop)
        mirror = mirror_of(desktop)
        await agreed(mirror, desktop, lambda: None)
        try:
            return await mirror.tree(LONG_S, PATIENT, desktop.windows(), None)
        finally:
            await mirror.close()

    def both() -> tuple[list[Told], list[Told]]:
        """Return what is read here, and what libatspi reads."""
        tree = asyncio.run(held(desktop))
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

    with screens.shown(screen) as (desktop, _):
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
