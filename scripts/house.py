"""Measures the shape of the code: modules, lines, names, imports; one column for each checkout, to compare two.

.venv/bin/python scripts/house.py [CHECKOUT …]   prints a table; without a path, of this checkout
.venv/bin/python scripts/house.py --list WHAT    names what is counted: gerunds, twice, thrice, small, lone
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "acud",
    "clients/acud_client",
    "clients/acud_cli",
    "clients/acud_fleet",
    "clients/acud_http",
    "clients/acud_mcp",
    "clients/acud_web",
)
SMALL = 40
NO_GERUNDS = {
    "grounding",
    "recording",
    "encoding",
    "tracing",
    "coalescing",
    "ping",
    "ring",
    "string",
    "thing",
    "heading",
    "setting",
    "rolling",
    "formatting",
}
"""The field's own nouns (a rolling restart), and words that end alike and are none."""
WAY = ("acud.capture", "acud.supervisor", "acud.evaluator", "acud.delivery", "acud.delivery")
"""The processes between damage and wake; the last was the delivery process's name."""

WRITTEN = "Written by scripts/"
"""Stands in the first line of a generated file."""


class House:
    """The product's modules below `top`, by dotted name."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.files: dict[str, Path] = {}
        for package in PACKAGES:
            base = top / package
            for path in sorted(base.rglob("*.py")):
                parts = path.relative_to(base.parent).with_suffix("").parts
                self.files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self.texts = {name: path.read_text(encoding="utf-8") for name, path in self.files.items()}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}
        self.lines = {name: text.count("\n") for name, text in self.texts.items()}

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """What each module imports of the product, in functions too, but not for types alone."""
        return {name: self._imported(name) for name in self.files}

    def _imported(self, name: str) -> set[str]:
        found: set[str] = set()
        for node in _runtime(self.trees[name]):
            if isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    inner = f"{node.module}.{one.name}"
                    found.add(inner if inner in self.files else node.module)
        return (found & self.files.keys()) - {name}

    @cached_property
    def small(self) -> list[str]:
        """Modules under 40 lines."""
        return sorted(name for name, lines in self.lines.items() if lines < SMALL)

    @cached_property
    def lone(self) -> list[str]:
        """Modules that one other imports, and no package or entry point."""
        importers = Counter(one for found in self.imports.values() for one in found)
        return sorted(name for name in self.files if importers[name] == 1 and self.files[name].name != "__init__.py")

    @cached_property
    def gerunds(self) -> list[str]:
        """Modules and packages whose name is a gerund."""
        return sorted(name for name in self.files if is_gerund(name.rpartition(".")[2]))

    @cached_property
    def class_names(self) -> Counter[str]:
        """How often each name of a class stands."""
        tops = (node for tree in self.trees.values() for node in tree.body)
        return Counter(node.name for node in tops if isinstance(node, ast.ClassDef))

    @cached_property
    def twice(self) -> list[str]:
        """Class names that stand twice or more."""
        return sorted(f"{name} ({count})" for name, count in self.class_names.items() if count > 1)

    @cached_property
    def thrice(self) -> list[str]:
        """Class names that stand three times or more."""
        return sorted(f"{name} ({count})" for name, count in self.class_names.items() if count > 2)

    @cached_property
    def chain(self) -> int:
        """The longest chain of imports in a process between damage and wake; modules in a cycle are one link."""
        links = _condensed(self.imports)
        longest: dict[frozenset[str], int] = {}

        def length(one: frozenset[str]) -> int:
            if one not in longest:
                longest[one] = 1 + max((length(other) for other in links[one]), default=0)
            return longest[one]

        starts = {f"{package}.__main__" for package in WAY}
        return max((length(one) for one in links if one & starts), default=0)

    @cached_property
    def files_of_requests(self) -> list[int]:
        """In how many files each request of the protocol is named by hand, by its class or its tag."""
        words: dict[str, set[str]] = defaultdict(set)
        for name, text in self.texts.items():
            if WRITTEN in text.partition("\n")[0]:
                continue
            for word in set(re.findall(r"\w+", text)):
                words[word].add(name)
        found = []
        for name, tree in self.trees.items():
            if name.startswith("acud.protocol.requests"):
                found += [len(words[request] | words[tag]) for request, tag in _requests(tree)]
        return found

    def figures(self) -> dict[str, float]:
        """Return the rows of the table."""
        sizes = self.lines.values()
        return {
            "modules": len(self.files),
            "lines": sum(sizes),
            "median module, lines": statistics.median(sizes),
            "modules under 40 lines": len(self.small),
            "modules with one importer": len(self.lone),
            "gerund module names": len(self.gerunds),
            "class names used twice": len(self.twice),
            "class names used three times": len(self.thrice),
            "longest import chain, damage to wake": self.chain,
            "files that name a request, median": statistics.median(self.files_of_requests or [0]),
        }


def is_gerund(name: str) -> bool:
    """Tell whether a word of a module's name is a gerund."""
    return any(re.fullmatch(r"\w{2,}ing", word) for word in set(name.split("_")) - NO_GERUNDS)


def _runtime(tree: ast.AST) -> list[ast.AST]:
    """Every node but those below `if TYPE_CHECKING`."""
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            waiting += ast.iter_child_nodes(node)
    return nodes


def _requests(tree: ast.Module) -> list[tuple[str, str]]:
    return [
        (node.name, keyword.value.value)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for keyword in node.keywords
        if keyword.arg == "tag" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    ]


def _condensed(graph: dict[str, set[str]]) -> dict[frozenset[str], set[frozenset[str]]]:
    """Return the graph of the modules, those that import each other as one."""
    reached = {one: _reached(graph, one) for one in graph}
    home = {one: frozenset({one} | {other for other in reached[one] if one in reached[other]}) for one in graph}
    links: dict[frozenset[str], set[frozenset[str]]] = {members: set() for members in home.values()}
    for one, others in graph.items():
        links[home[one]] |= {home[other] for other in others} - {home[one]}
    return links


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def main(arguments: list[str]) -> None:
    """Print the table, or a list."""
    if arguments[:1] == ["--list"]:
        print("\n".join(getattr(House(ROOT), arguments[1])))
        return
    columns = [House(Path(one)).figures() for one in arguments or [str(ROOT)]]
    for row in columns[0]:
        print(f"{row:40}" + "".join(f"{column[row]:>10g}" for column in columns))


if __name__ == "__main__":
    main(sys.argv[1:])
