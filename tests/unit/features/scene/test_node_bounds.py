"""Widgets beyond the limits of a message, and beyond the window."""

import pytest

from acud.accessibility.nodes import AccessibleApp, Node, State, Tree
from acud.base.errors import Conflict
from acud.features.scene.elements import NamedElement, choose_marks, visible_part
from acud.features.scene.evaluator.reader import first_nodes
from acud.protocol.scene_parts import NodePart
from acud.types import Rect
from acud.types.scene import AxElement
from tests.unit.features.scene.scenes import scene

BOX = Rect(10, 10, 40, 20)


def test_what_is_in_sight_is_kept_first_and_stays_in_what_is_around_it() -> None:
    nodes = (
        NodePart("document web", BOX),
        NodePart("section", BOX, parent=0, offscreen=True),
        NodePart("link", BOX, "far", parent=1, offscreen=True),
        NodePart("link", BOX, "fixed", parent=1),
        NodePart("link", BOX, "near", parent=0),
    )
    assert [(one.label, one.parent) for one in first_nodes(nodes, 3)] == [("", -1), ("fixed", 0), ("near", 0)]
    assert first_nodes(nodes, 5) == nodes


def test_a_tree_without_what_is_scrolled_away() -> None:
    def node(ref: str, parent: int, states: int) -> Node:
        return Node(ref, 0, parent, 0, "section", ref, states, BOX)

    shown, away = State.SHOWING | State.VISIBLE, State.VISIBLE
    tree = Tree(
        (AccessibleApp("browser", 1),),
        (node("page", -1, shown), node("far", 0, away), node("fixed", 1, shown), node("farther", 1, away)),
        hidden=2,
    )
    left = tree.showing()
    assert [(one.ref, one.parent) for one in left.nodes] == [("page", -1), ("fixed", 0)]
    assert left.hidden == 4
    assert left.showing() is left


def test_what_is_scrolled_away_is_neither_clicked_nor_marked() -> None:
    with pytest.raises(Conflict, match="a1-1 'Send' at 10,10 is scrolled out of sight"):
        visible_part(NamedElement("a1-1", "Send", BOX, "push button", offscreen=True), 1280, 720, ())
    away = AxElement("a1-1", "push button", BOX, 1, "Send", ("click",), offscreen=True)
    assert not choose_marks(scene(ax=(away,), ocr=()), 1).marks
