"""Parts of the supervisor get their callbacks when they are made, or subscribe by a method: nothing is wired later."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from scripts.house import ROOT, nodes_of

ROOMS = ("acud/supervisor", "acud/features")
TREES = {path: nodes_of(path)[0] for path in sorted((ROOT / "acud").rglob("*.py"))}
WIRED = [path for path in TREES if str(path.relative_to(ROOT)).startswith(ROOMS)]
EMPTY = {"set", "frozenset", "dict", "list", "tuple"}
EXCEPTED = {"on_exit", "transient"}
"""`on_exit`: processes change hands; who stops a display hears the end of its processes from then on. `transient`: a
wait that is not stored keeps who asked for it; that begins and ends with the wait and wires no part.
"""


class Names:
    """What some sources call their callbacks."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        nodes = [node for tree in trees for node in ast.walk(tree)]
        self._kinds = {"Callable"}
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and self.is_kind(node.value):
                self._kinds |= {one.id for one in node.targets if isinstance(one, ast.Name)}
        held = {name for node in nodes for name in self._attributes(node)}
        self.attributes = held - EXCEPTED - {name for node in nodes for name in self._values(node)}
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        self.silent = {one.name for one in functions if _does_nothing(one)} | EMPTY

    def is_kind(self, kind: ast.expr | None) -> bool:
        """Tell whether an annotation is a callback or holds callbacks."""
        if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
            kind = ast.parse(kind.value, mode="eval").body
        return kind is not None and any(isinstance(one, ast.Name) and one.id in self._kinds for one in ast.walk(kind))

    def _attributes(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.ClassDef):
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and self.is_kind(one.annotation)]
            yield from (one.target.id for one in fields if isinstance(one.target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            if self.is_kind(node.annotation):
                yield node.target.attr
        elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
            given = {one.arg for one in _arguments(node) if self.is_kind(one.annotation)}
            for target, value in (pair for inner in ast.walk(node) for pair in _assignments(inner)):
                if _is_self(target.value) and isinstance(value, ast.Name) and value.id in given:
                    yield target.attr

    def _values(self, node: ast.AST) -> Iterator[str]:
        """Yield attributes which hold a plain value in some class: their names do not tell a callback."""
        if isinstance(node, ast.AnnAssign) and self.is_kind(node.annotation):
            return
        for target, value in _assignments(node):
            if _is_self(target.value) and isinstance(value, ast.Constant) and value.value is not None:
                yield target.attr


def late_assignments(tree: ast.Module, names: Names) -> Iterator[str]:
    """Yield assignments to attributes of another object: of its callbacks anywhere, in constructors of any."""
    for node in ast.walk(tree):
        for target, value in _assignments(node):
            is_callback = target.attr in names.attributes or isinstance(value, ast.Lambda) or _is_partial(value)
            is_emptied = isinstance(value, ast.List) and not value.elts
            if is_callback and not is_emptied and target.attr not in EXCEPTED and not _is_self(target.value):
                yield ast.unparse(target)
        if isinstance(node, ast.FunctionDef) and _wires(node):
            for target, _ in (pair for inner in ast.walk(node) for pair in _assignments(inner)):
                if target.attr not in EXCEPTED and not _is_self(target.value):
                    yield ast.unparse(target)


def silent_defaults(tree: ast.Module, names: Names) -> Iterator[str]:
    """Yield callbacks that do nothing unless somebody replaces them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs: list[tuple[ast.expr | None, ast.expr]] = [(node.annotation, node.value)]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pairs = list(_defaults(node))
        else:
            continue
        yield from (ast.unparse(value) for kind, value in pairs if names.is_kind(kind) and _is_silent(value, names))


def _wires(function: ast.FunctionDef) -> bool:
    return function.name in ("__init__", "wired") or function.name.startswith("_wire")


def _assignments(node: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        ones = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value] * len(ones)
        yield from ((one, of) for one, of in zip(ones, values, strict=False) if isinstance(one, ast.Attribute))


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    yield from ((one.annotation, value) for one, value in zip(plain[::-1], given.defaults[::-1], strict=False))
    keyed = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    yield from ((one.annotation, value) for one, value in keyed if value is not None)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_partial(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "partial"


def _is_silent(value: ast.expr, names: Names) -> bool:
    if isinstance(value, ast.Call):  # a field of a dataclass: field(default=…)
        return any(one.arg == "default" and _is_silent(one.value, names) for one in value.keywords)
    if isinstance(value, ast.Lambda):
        return _is_nothing(value.body)
    return isinstance(value, ast.Name) and value.id in names.silent


def _is_nothing(body: ast.expr) -> bool:
    if isinstance(body, ast.Call):
        return isinstance(body.func, ast.Name) and body.func.id in EMPTY and not body.args
    if isinstance(body, ast.Dict):
        return not body.keys
    return isinstance(body, ast.Constant | ast.Name) or (isinstance(body, ast.List | ast.Tuple) and not body.elts)


def _does_nothing(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return not function.decorator_list and all(
        isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in function.body
    )


ALL = Names(TREES.values())


@pytest.mark.parametrize("path", WIRED, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_wired_late(path: Path) -> None:
    assert set(late_assignments(TREES[path], ALL)) == set()
    assert set(silent_defaults(TREES[path], ALL)) == set()


@pytest.mark.parametrize("code", [
    "class A:\n  def __init__(self, delivery):\n    delivery.ready = self._pump",
    "class A:\n  def __init__(self, delivery):\n    delivery.ready: Callable[[], None] = self._pump",
    "class A:\n  def _wire_parts(self):\n    self.delivery.ready, self.delivery.gone = self._pump, self._gone",
    "class A:\n  handlers: dict[str, Callable[[], None]]\ndef start(app):\n  app.control.handlers = app.bound",
    "class A:\n  def __init__(self, ended: Callable[[], None]):\n    self.ended = ended\na.ended = print",
    "class A:\n  def _lend(self):\n    self.fleet.came = partial(self.delivery.came, 1)",
    "class A:\n  def begin(self):\n    self._app.control.admit = lambda request: self._refuse(request)",
    "class A:\n  def __init__(self):\n    self.ready: Callable[[], None] = lambda: None",
    "class A:\n  def __init__(self):\n    self.ready: Callable[[], set[int]] = lambda: set()",
    "class A:\n  ready: Callable[[], None] = field(default=lambda: None)",
    "class A:\n  def __init__(self, ready: Callable[[], None] = lambda: None): ...",
    "class A:\n  def __init__(self, ready: 'Callable[[], None]' = lambda: None): ...",
    "class A:\n  async def run(self, text: Callable[[str], str] | None = lambda text: text): ...",
    "Ended = Callable[[str], None]\nclass A:\n  def __init__(self, ended: Ended = lambda reason: None): ...",
    "def _idle():\n  pass\nclass A:\n  def __init__(self, *, ready: Callable[[], None] = _idle): ...",
    "class A:\n  def __init__(self, known: Callable[[], set[int]] = set): ...",
])  # fmt: skip
def test_what_is_late(code: str) -> None:
    tree = ast.parse(code)
    names = Names([tree])
    assert [*late_assignments(tree, names), *silent_defaults(tree, names)]


@pytest.mark.parametrize("code", [
    "class A:\n  def __init__(self, ready: Callable[[], None]):\n    self.ready = ready",
    "class A:\n  def turn(self, source):\n    source.frame = 4",
    "class A:\n  def __init__(self, delivery):\n    delivery.on_pushes(self._pump)",
    "def ask(clock: Callable[[], float] = time.monotonic, left: Callable[[], None] | None = None): ...",
])  # fmt: skip
def test_what_is_not_late(code: str) -> None:
    tree = ast.parse(code)
    names = Names([tree])
    assert [*late_assignments(tree, names), *silent_defaults(tree, names)] == []
