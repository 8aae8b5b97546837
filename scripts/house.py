"""Measures the shape of the code and the weight of tests and docs beside their goals; one column for each checkout.

.venv/bin/python scripts/house.py [CHECKOUT …]   prints the table and each room's lines; without a path, of this one
.venv/bin/python scripts/house.py --list WHAT    names what is counted: participles, plain_english, unknown_names,
                                                 callbacks, nested, circles, long, gerunds, twice, small
"""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMALL = 40
LONG = 500
GERUND = re.compile(r"\w{2,}ing")
NO_GERUND = re.compile(
    r"grounding|recording|encoding|heading|tracing|coalescing|ping|ring|string|thing|setting|rolling|formatting"
)
"""The field's own nouns (a rolling restart), and words that end alike."""
PARTICIPLE = re.compile(
    r"(?!need|feed|seed|speed|exceed|proceed|embed|shed)[a-z]{2,}ed|told|taken|known|seen|sent|shown|held|kept|left|made|"
    r"found|given|gone|done|drawn|written|said|met|built|bound|begun|broken|chosen|dealt|driven|fallen|felt|fought|grown|"
    r"heard|hidden|laid|led|lent|lost|meant|paid|proven|sold|slept|spent|stood|struck|swept|taught|thought|thrown|"
    r"understood|woken|won|worn|bought|brought|caught|bent|blown|born|got|forgotten|frozen|risen|spoken|stolen|torn"
)
HIDES_ACTOR = re.compile(
    r"\b(tell|tells|told|telling|say|says|said|saying|who|whom|whose|whoever|whomever)\b", re.IGNORECASE
)
"""Words of a docstring or comment that hide the actor."""
FOREIGN = re.compile(
    r"Anthropic\w+|Beta\w+|GetAll|Invalid\w+|MAYBE_\w+|Passwords|SmtpPassword|SubscriptionBus|TOKEN_TTL|U20AC|aws_\w+|"
    r"chpl|dbPassword_2|pack_into|privTin66|ps|send_all|server_tool_use|smart_resize|your_api_key"
)
"""Names in backticks that libraries, formats and examples have."""
GENERATED = ("Written by scripts/", "scripts.client_methods")

GOALS: dict[str, float] = {
    "functions named by a bare participle, %": 3,
    "tell, say, who … in 1,000 words of docstrings": 3,
    "names in backticks that do not exist": 0,
    "rooms at the top of acud": 22,
    "arrows between these rooms": 100,
    "files of the largest circle": 2,
    "callback parameters in the supervisor": 60,
    "nested functions in supervisor and features": 40,
    "regular expressions": 250,
    "modules over 500 lines": 0,
    "lines without the fleet": 98_000,
    "lines of the fleet": 9_900,
    "lines of test to a line of product": 0.80,
    "hand-written words in docs": 80_000,
    "changelog items": 120,
    "changelog words an item": 20,
}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return a file's syntax tree and every node below it; callers leave them as they are."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    for node in nodes:
        nodes += ast.iter_child_nodes(node)
    gc.freeze()  # each full collection would look through the trees of all files, for two thirds of the time
    return nodes


@cache
def comments_of(path: Path) -> list[tuple[int, str]]:
    """Return each comment with its line, found by where strings are, as tokenizing is slow."""
    strings = [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in nodes_of(path)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
    ]
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        place = line.find(b"#")
        while place >= 0 and any(start <= (number, place) < end for start, end in strings):
            place = line.find(b"#", place + 1)
        if place >= 0:
            found.append((number, line[place:].decode()))
    return found


class House:
    """The product's modules below `top`, by dotted name, with its tests and docs."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.files: dict[str, Path] = {}
        for package in [top / "acud", *sorted((top / "clients").glob("acud_*"))]:
            for path in sorted(package.rglob("*.py")):
                parts = path.relative_to(package.parent).with_suffix("").parts
                self.files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self.texts = {name: path.read_text(encoding="utf-8") for name, path in self.files.items()}
        self.nodes = {name: nodes_of(path) for name, path in self.files.items()}
        self.lines = {name: text.count("\n") for name, text in self.texts.items()}

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Yield each function with its module's name."""
        for name, nodes in self.nodes.items():
            for node in nodes:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield name, node

    @cached_property
    def named(self) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """The functions whose name should be a verb: neither properties nor Python's own methods."""
        return [
            (module, node)
            for module, node in self.functions()
            if not node.name.startswith("__")
            and not any("property" in (word := ast.unparse(one)) or ".setter" in word for one in node.decorator_list)
        ]

    @cached_property
    def participles(self) -> list[str]:
        """Functions named by a bare participle."""
        return [
            f"{self.files[module]}:{node.lineno} {node.name}" for module, node in self.named if is_participle(node.name)
        ]

    @cached_property
    def prose(self) -> list[tuple[Path, int, str]]:
        """Each docstring and comment with its file and first line."""
        found = []
        for name, path in self.files.items():
            strings = [node.value for node in self.nodes[name] if isinstance(node, ast.Expr)]
            found += [
                (path, one.lineno, one.value)
                for one in strings
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            found += [(path, line, comment) for line, comment in comments_of(path)]
        return found

    @cached_property
    def plain_english(self) -> list[str]:
        """Words in docstrings and comments that hide the actor."""
        return [f"{path}:{line} {word}" for path, line, text in self.prose for word in HIDES_ACTOR.findall(text)]

    @cached_property
    def unknown_names(self) -> list[str]:
        """Names in backticks that stand nowhere in code, SQL, pages, settings or benches."""
        code: Counter[str] = Counter()
        for text in self.texts.values():
            code.update(re.findall(r"\w+", text))
        for _, _, text in self.prose:
            code.subtract(re.findall(r"\w+", text))
        known = {word for word, count in code.items() if count > 0}
        known.update(part for name in self.files for part in name.split("."))
        others = [
            path
            for one in ("acud/**/*.sql", "clients/**/*.js", "conf/*", "scripts/bench", "tests/bench/*.py")
            for path in self.top.glob(one)
            if path.is_file()
        ]
        known.update(word for path in others for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))
        return [
            f"{path}:{line} {name}"
            for path, line, text in self.prose
            for name in re.findall(r"(?<!`)`([A-Za-z]\w*(?:\.\w+)*)(?:\(\))?`(?!`)", text)
            if (last := name.rpartition(".")[2]) not in known and not FOREIGN.fullmatch(last)
        ]

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """The modules of the product that each module imports, in functions too, but not for types alone."""
        return {name: self._imports_of(name, _runtime(self.nodes[name][0])) for name in self.files}

    def _imports_of(self, name: str, nodes: Iterable[ast.AST]) -> set[str]:
        found: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    inner = f"{node.module}.{one.name}"
                    found.add(inner if inner in self.files else node.module)
        return (found & self.files.keys()) - {name}

    @cached_property
    def rooms(self) -> Counter[str]:
        """The lines of each room: what lies at the top of acud/ and each client."""
        found: Counter[str] = Counter()
        for name, lines in self.lines.items():
            found[_room(name)] += lines
        return found

    @cached_property
    def arrows(self) -> set[tuple[str, str]]:
        """The imports between rooms of acud/."""
        pairs = {(_room(name), _room(other)) for name, others in self.imports.items() for other in others}
        return {
            (one, other)
            for one, other in pairs
            if one != other and one.startswith(other[:5]) and one.startswith("acud.")
        }

    @cached_property
    def circles(self) -> list[list[str]]:
        """Modules that import each other, also for types alone, over any number of steps; the largest circle first."""
        imports = {name: self._imports_of(name, nodes) for name, nodes in self.nodes.items()}
        reached = {name: _reached(imports, name) for name in self.files}
        homes = {frozenset({one} | {other for other in reached[one] if one in reached[other]}) for one in reached}
        return sorted((sorted(home) for home in homes if len(home) > 1), key=len, reverse=True)

    @cached_property
    def callbacks(self) -> list[str]:
        """Parameters of the supervisor's functions that are functions."""
        return [
            f"{self.files[module]}:{node.lineno} {node.name}({one.arg})"
            for module, node in self.functions()
            if "supervisor" in module
            for one in node.args.args + node.args.kwonlyargs
            if one.annotation is not None and "Callable" in ast.unparse(one.annotation)
        ]

    @cached_property
    def nested(self) -> list[str]:
        """Functions within functions, in the supervisor and features."""
        return [
            f"{self.files[module]}:{inner.lineno} {node.name}.{inner.name}"
            for module, node in self.functions()
            if ".supervisor" in module or ".features." in module
            for inner in ast.walk(node)
            if inner is not node and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    @cached_property
    def expressions(self) -> int:
        """How often a regular expression is compiled or used from its text."""
        call = re.compile(r"\bre2?\.(?:compile|search|match|fullmatch|sub|split|findall|finditer)\(")
        return sum(len(call.findall(text)) for text in self.texts.values())

    @cached_property
    def small(self) -> list[str]:
        """Modules under 40 lines, but for the faces of packages."""
        modules = (name for name, lines in self.lines.items() if lines < SMALL)
        return sorted(name for name in modules if self.files[name].name != "__init__.py")

    @cached_property
    def long(self) -> list[str]:
        """Modules over 500 lines that no script writes."""
        return [
            f"{name} ({lines})"
            for name, lines in self.lines.items()
            if lines > LONG and not any(word in self.texts[name].partition("\n")[0] for word in GENERATED)
        ]

    @cached_property
    def gerunds(self) -> list[str]:
        """Modules and packages whose name is a gerund."""
        return sorted(name for name in self.files if is_gerund(name.rpartition(".")[2]))

    @cached_property
    def twice(self) -> list[str]:
        """Class names that stand twice or more."""
        tops = (node for nodes in self.nodes.values() for node in ast.iter_child_nodes(nodes[0]))
        names = Counter(node.name for node in tops if isinstance(node, ast.ClassDef))
        return sorted(f"{name} ({count})" for name, count in names.items() if count > 1)

    @cached_property
    def changelog(self) -> list[str]:
        """The items of the newest release."""
        text = (self.top / "CHANGELOG.md").read_text(encoding="utf-8")
        newest = re.split(r"^## \[", text, flags=re.MULTILINE)[1]
        return re.split(r"^- ", newest, flags=re.MULTILINE)[1:]

    def figures(self) -> dict[str, float]:
        """Return the rows of the table."""
        words = sum(len(re.findall(r"\w+", text)) for _, _, text in self.prose)
        fleet = sum(
            lines
            for name, lines in self.lines.items()
            if "fleet" in name.split(".")[:3] or name.startswith("acud_fleet")
        )
        product = sum(self.lines.values())
        tests = sum(path.read_text(encoding="utf-8").count("\n") for path in (self.top / "tests").rglob("*.py"))
        pages = (self.top / "docs").rglob("*.md")
        changes = [len(item.split()) for item in self.changelog]
        values = [
            100 * len(self.participles) / len(self.named),
            1000 * len(self.plain_english) / words,
            len(self.unknown_names),
            sum(room.startswith("acud.") for room in self.rooms),
            len(self.arrows),
            max((len(circle) for circle in self.circles), default=1),
            len(self.callbacks),
            len(self.nested),
            self.expressions,
            len(self.long),
            product - fleet,
            fleet,
            tests / product,
            sum(len(path.read_text(encoding="utf-8").split()) for path in pages),
            len(changes),
            sum(changes) / max(len(changes), 1),
        ]
        return dict(zip(GOALS, values, strict=True))


def is_gerund(name: str) -> bool:
    """Return whether a word of a module's name is a gerund."""
    return any(GERUND.fullmatch(word) and not NO_GERUND.fullmatch(word) for word in name.split("_"))


def is_participle(name: str) -> bool:
    """Return whether a function's name is one participle (`_told`, `aimed`)."""
    return PARTICIPLE.fullmatch(name.strip("_")) is not None


def _room(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "acud" else parts[0]


def _runtime(tree: ast.AST) -> list[ast.AST]:
    """Return every node except those below `if TYPE_CHECKING`."""
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            waiting += ast.iter_child_nodes(node)
    return nodes


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def main(arguments: list[str]) -> None:
    """Print the table with each room's lines, or a list."""
    if arguments[:1] == ["--list"]:
        print(*getattr(House(ROOT), arguments[1]), sep="\n")
        return
    houses = [House(Path(one)) for one in arguments or [str(ROOT)]]
    columns = [house.figures() for house in houses]
    for row, goal in GOALS.items():
        values = [column[row] for column in columns]
        print(f"{row:46}" + "".join(f"{one:>10,.{6 if one >= 1000 else 4}g}" for one in values), f"  goal {goal:g}")
    print()
    for room in sorted({room for house in houses for room in house.rooms}):
        print(f"{room:46}" + "".join(f"{house.rooms[room]:>10,}" for house in houses))


if __name__ == "__main__":
    main(sys.argv[1:])
