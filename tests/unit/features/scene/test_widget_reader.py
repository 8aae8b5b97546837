"""What a scene says of widgets that are missing from it."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from acud.accessibility.ask import AccessibilityAsk
from acud.accessibility.nodes import AccessibleApp, FailedApp, Node, Tree
from acud.config import AccessibilitySettings
from acud.evaluator.ports import PassthroughRedactor
from acud.features.scene.evaluator.widgets import FrameFacts, WidgetReader
from acud.protocol.scene_parts import SceneAsk
from acud.types import Rect
from acud.types.displays import redaction_mark

APP = AccessibleApp("program", 7, "gtk", "3.24.38")
BUTTON = Node("/1", 0, -1, 0, "push button", "OK", 0, Rect(0, 0, 20, 10))
MUTE = FailedApp(
    "Chromium", 9, "it tells nothing of its page; if that stays so, start it with --force-renderer-accessibility"
)


class FakeProvider:
    name, priority = "at-spi", 100

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def read(self, ask: AccessibilityAsk) -> Tree:
        return self._tree

    async def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(("tree", "state", "reason", "left_out"), [
    (Tree((APP,), (BUTTON,)), "ready", "", 0),
    (
        Tree((APP,), (BUTTON,), truncated="nodes", left_out=4999), "incomplete",
        "1 of at least 5000 widgets told ([accessibility] max_nodes)", 4999,
    ),
    (Tree((APP,), (BUTTON,), silent=(MUTE,)), "incomplete", f"Chromium: {MUTE.reason}", 0),
    (Tree((APP,), (BUTTON,), failed=(FailedApp("gimp", 8, "gone"),)), "incomplete", "gimp: gone", 0),
    (Tree(), "ready", "no application reports its widgets: see docs/accessibility.md", 0),
], ids=["whole", "cut", "a mute browser", "a hung application", "nobody"])  # fmt: skip
@pytest.mark.asyncio
async def test_what_is_missing_is_said(tree: Tree, state: str, reason: str, left_out: int) -> None:
    reader = WidgetReader(AccessibilitySettings(), cast(Any, FakeProvider(tree)), PassthroughRedactor())
    found = await reader.read(SceneAsk(), FrameFacts(":100"))
    await reader.close()
    assert (found.state.name, found.state.state, found.state.reason) == ("at-spi", state, reason)
    assert (len(found.parts), found.left_out) == (len(tree.nodes), left_out)


@pytest.mark.asyncio
async def test_a_rule_hides_what_a_widget_shows_and_a_field_keeps_its_label() -> None:
    class HidesAll(PassthroughRedactor):
        def in_widgets(self, nodes: Sequence[Node]) -> list[str]:
            return ["code"] * len(nodes)

    field = Node("/2", 0, -1, 0, "text", "Code", 0, Rect(0, 0, 80, 10), text="1234")
    cell = Node("/3", 0, -1, 0, "table cell", "1234", 0, Rect(0, 20, 80, 10), text="1234")
    label = Node("/4", 0, -1, 0, "label", "1234", 0, Rect(0, 40, 80, 10))
    reader = WidgetReader(
        AccessibilitySettings(), cast(Any, FakeProvider(Tree((APP,), (field, cell, label)))), HidesAll()
    )
    found = await reader.read(SceneAsk(), FrameFacts(":100"))
    await reader.close()
    mark = redaction_mark("code")
    assert [(part.label, part.value) for part in found.parts] == [("Code", mark), (mark, mark), (mark, "")]
