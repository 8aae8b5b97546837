"""What tests may import: public names, and no bench."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from scripts.house import nodes_of

TESTS = Path(__file__).parents[1]
ROOTS = ("acud", "scripts", "tests")
BENCHES = TESTS / "bench"
ABOUT_BENCHES = {TESTS / "contract" / name for name in ("test_benchmarks_page.py", "test_compare_page.py")}
"""They compare docs pages with the benches themselves."""
MEASURING = {TESTS / "sim" / name for name in ("job_flow.py", "real.py", "small_fleet.py")}
"""What `scripts/simulate --measure` runs: benches of the machine that it is on."""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, str, str, int]]:
    """Yield module, name, bound name and line of each name that is imported from this project."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(ROOTS):
            for one in node.names:
                yield node.module or "", one.name, one.asname or one.name, node.lineno


def _faults(file: Path) -> Iterator[str]:
    nodes = nodes_of(file)
    place = file.relative_to(TESTS.parent)
    of_benches = BENCHES in file.parents or file in ABOUT_BENCHES | MEASURING
    modules = set()
    for module, name, bound, line in _imports(nodes):
        if not of_benches and f"{module}.{name}".startswith("tests.bench"):
            yield f"{place}:{line} imports a bench: {module}.{name}"
        if _is_private(name) and not (of_benches and module == "tests.bench"):
            yield f"{place}:{line} imports a private name: {module}.{name}"
        if bound.islower():
            modules.add(bound)
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules and _is_private(name):
                yield f"{place}:{node.lineno} uses a private name: {module}.{name}"


def test_tests_import_public_names_and_no_bench() -> None:
    faults = [fault for file in sorted(TESTS.rglob("*.py")) for fault in _faults(file)]
    assert faults == []
