"""The supervisor opens files that could block it through `acud.base.private_files` alone, except the kernel's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from scripts.house import nodes_of

SUPERVISOR = Path(__file__).parents[2] / "acud" / "supervisor"
OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
OF_THE_KERNEL = {
    "displays/numbers.py": {"_NET_UNIX.read_text"},
    "host_conditions/writers.py": {"read_text"},  # under /proc
    "displays/proc_files.py": {"read_bytes", "read_text"},  # each of them under /proc
    "terminal_sessions/processes.py": {"read_text", "open"},
    "security_checks.py": {"_CORE_PATTERN.read_text", "_STATUS.read_text"},
}
OTHERS = {
    "self._sessions.read_text", "self._journal.store.outbox.open", "self._runtime.budgets.open", "self._listeners.open",
    "Ring.open",
}  # fmt: skip
"""Not of files; a ring opens its own as carefully (`acud/frames/ring.py`)."""


def find_openings(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the line of each call that may open a file, and what is called."""
    for node in nodes:
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called.rpartition(".")[2] in OPENING and called != "private_files.open_regular":
                yield node.lineno, called


def test_every_file_is_opened_without_waiting() -> None:
    found = []
    for path in sorted(SUPERVISOR.rglob("*.py")):
        name = str(path.relative_to(SUPERVISOR))
        allowed = OF_THE_KERNEL.get(name, set())
        for line, called in find_openings(nodes_of(path)):
            if called not in OTHERS | allowed and called.rpartition(".")[2] not in allowed:
                found.append(f"acud/supervisor/{name}:{line}: {called}: use acud.base.private_files (or see OTHERS)")
    assert not found, "\n".join(found)
