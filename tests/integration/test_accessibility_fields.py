"""Fields that tell little of themselves: a placeholder in place of a name, a role that says nothing of editing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from acud.accessibility.nodes import Limits, Node, Tree
from acud.evaluator.accessibility.bus import AccessibilityBus
from acud.evaluator.accessibility.reader import TreeReader
from acud.features.grounding.widget_match import match
from acud.types import Rect
from tests.grounding.browser import FirefoxPage, Page, firefox
from tests.grounding.desktop import Desktop, chromium, missing

PATIENT = Limits(walk_s=30, answer_s=10)
KINDS = ("gtk3", "chromium", "firefox")


class Fields:
    """A program with fields, on a desktop of its own."""

    def __init__(self, desktop: Desktop, kind: str, cleanup: ExitStack) -> None:
        self.desktop = desktop
        if kind == "gtk3":
            _, self.truth = desktop.show("fields_gtk3.py")
        else:
            page = {"chromium": Page, "firefox": FirefoxPage}[kind]
            self.truth = cleanup.enter_context(page(desktop, "fields.html")).truth

    async def read(self, holds: Callable[[Tree], object]) -> Tree:
        bus = AccessibilityBus(self.desktop.bus_address, connect_s=30)
        tree = Tree()
        try:
            for _ in range(600):
                tree = await TreeReader(bus).read(self.desktop.windows(), PATIENT)
                if holds(tree):
                    return tree
                await asyncio.sleep(0.1)
        finally:
            await bus.close()
        raise AssertionError(f"it never held: {[(n.role, n.name, n.box) for n in tree.nodes]}")

    def is_told(self, tree: Tree) -> bool:
        """Tell whether all is told: Firefox tells some attributes a moment after the rest."""
        told = {words for one in tree.nodes for words in (one.name, one.placeholder)}
        wanted = {"Search orders", *(("Write a note", "Real name", "for example Ann") if "note" in self.truth else ())}
        return any("paid" in one.text for one in tree.nodes) and wanted <= told

    def found(self, description: str, tree: Tree) -> str:
        """Return the key of the field that a description finds."""
        answer = match(description, tree, self.desktop.windows(), self.desktop.screen, verb="type")
        assert answer.outcome == "sure", (description, answer)
        point = answer.candidates[0].point
        return next((key for key, box in self.truth.items() if box.holds(point.x, point.y)), "")


@pytest.fixture(scope="module", params=KINDS)
def fields(request: pytest.FixtureRequest) -> Iterator[Fields]:
    kind = request.param
    lacking = {"gtk3": missing("gtk3"), "chromium": not chromium(), "firefox": not firefox()}[kind]
    if lacking:
        pytest.skip(f"no {kind}")
    with Desktop() as desktop, ExitStack() as cleanup:
        yield Fields(desktop, kind, cleanup)


def _at(tree: Tree, box: Rect) -> list[Node]:
    middle = box.x + box.w // 2, box.y + box.h // 2
    return [node for node in tree.nodes if node.box is not None and node.box.holds(*middle)]


@pytest.mark.asyncio
async def test_a_placeholder_names_a_field_and_is_never_its_value(fields: Fields) -> None:
    tree = await fields.read(fields.is_told)
    assert fields.found("the search orders field", tree) == "orders"
    assert fields.found("the 'Filter rows' field", tree) == "rows"
    (orders,) = [node for node in _at(tree, fields.truth["orders"]) if node.role in ("entry", "text")]
    (rows,) = [node for node in _at(tree, fields.truth["rows"]) if node.role in ("entry", "text")]
    assert (orders.text, rows.text) == ("", "paid")
    assert "Search orders" in (orders.placeholder, orders.name)
    if "note" in fields.truth:
        (note,) = [node for node in _at(tree, fields.truth["note"]) if node.role == "entry"]
        assert (note.placeholder, note.text) == ("Write a note", "")
        (real,) = [node for node in _at(tree, fields.truth["real"]) if node.role == "entry"]
        assert (real.name, real.placeholder, real.text) == ("Real name", "for example Ann", "")


@pytest.mark.asyncio
async def test_what_can_be_edited_is_a_field_whatever_its_role(fields: Fields) -> None:
    tree = await fields.read(fields.is_told)
    key, words = ("odd", "in a panel") if "odd" in fields.truth else ("draft", "Dear")
    (field,) = [node for node in _at(tree, fields.truth[key]) if node.role == "entry"]
    assert words in field.text
    assert "entry" not in {node.role for node in _at(tree, fields.truth["words"])}
    description = "the odd words field" if key == "odd" else "the Draft field"
    assert fields.found(description, tree) == key
