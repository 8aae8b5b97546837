"""Parts of the supervisor get their callbacks when they are made, or subscribe by a method: nothing is wired later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("acud/supervisor", "acud/features")
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
EMPTY = ("set", "dict", "list", "tuple")
EXCEPTED = {"x_server.on_exit", "process.on_exit"}
"""Processes that change hands: who stops a display hears the end of its processes from then on."""


def late_assignments(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield assignments, in constructors, to attributes of another object: of a parameter or of a part just made."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not _wires(function):
            continue
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else ()
            for target in (one for given in targets for one in _flat(given)):
                if isinstance(target, ast.Attribute) and not _is_self(target.value):
                    yield target


def _wires(function: ast.FunctionDef) -> bool:
    return function.name == "__init__" or function.name.startswith("_wire") or function.name == "wired"


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple):
        yield from target.elts
    else:
        yield target


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def silent_defaults(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield callbacks that do nothing unless somebody replaces them."""
    silent = {one.name for one in tree.body if isinstance(one, ast.FunctionDef) and _does_nothing(one)}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None and _is_callback(node.annotation):
            pairs = [(node.annotation, node.value)]
        elif isinstance(node, ast.FunctionDef):
            pairs = list(_defaults(node.args))
        else:
            continue
        yield from (value for kind, value in pairs if _is_callback(kind) and _is_silent(value, silent))


def _defaults(given: ast.arguments) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    plain = [*given.posonlyargs, *given.args]
    yield from ((one.annotation, value) for one, value in zip(plain[::-1], given.defaults[::-1], strict=False))
    yield from (
        (one.annotation, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value
    )


def _is_callback(kind: ast.expr | None) -> bool:
    return kind is not None and ast.unparse(kind).startswith("Callable[")


def _is_silent(value: ast.expr, silent: set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in silent or value.id in EMPTY
    return isinstance(value, ast.Lambda) and isinstance(value.body, ast.Constant | ast.Name)


def _does_nothing(function: ast.FunctionDef) -> bool:
    return all(isinstance(one, ast.Expr | ast.Pass) for one in function.body)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_wired_late(path: Path) -> None:
    tree = ast.parse(path.read_text())
    late = {ast.unparse(one) for one in late_assignments(tree)}
    assert late - EXCEPTED == set()
    assert [ast.unparse(one) for one in silent_defaults(tree)] == []


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n  def __init__(self, relay):\n    relay.ready = self._pump",
        "class A:\n  def _wire_parts(self):\n    self.relay.ready, self.relay.gone = self._pump, self._gone",
        "class A:\n  def __init__(self):\n    self.ready: Callable[[], None] = lambda: None",
        "class A:\n  def __init__(self, ready: Callable[[], None] = lambda: None): ...",
        "def _idle():\n  pass\nclass A:\n  def __init__(self, *, ready: Callable[[], None] = _idle): ...",
        "class A:\n  def __init__(self, known: Callable[[], set[int]] = set): ...",
    ],
)
def test_what_is_late(code: str) -> None:
    tree = ast.parse(code)
    assert [*late_assignments(tree), *silent_defaults(tree)]
