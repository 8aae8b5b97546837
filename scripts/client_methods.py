"""Write the methods of the Python clients, sync and async, from the requests' declarations:
clients/acud_client/request_methods.py. --check only tells whether the file is up to date.

A method takes the fields of its request: by position the first `Command.positional`, the others by name. Its docstring
is the request's, with `Command.errors`; the page has the first paragraph of it, the rest is added as it is loaded.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
import typing
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import msgspec

from acud.protocol.requests import REQUESTS, Command

PAGE = Path(__file__).resolve().parent.parent / "clients" / "acud_client" / "request_methods.py"
ONE_OR_MORE = {("desktop_action", "actions")}
"""Sequences whose only item a caller may give by itself."""
_WIDTH = 120
_HEAD = '''"""Each request as a method, sync and async. Written by scripts/client_methods.py from the declarations."""

# ruff: noqa: A002, B008, I001 - names are the protocol's; defaults are frozen; imports fill their lines, as calls do
# fmt: off

from __future__ import annotations

{imports}

Parameters = ParamSpec("Parameters")
Reply = TypeVar("Reply", bound=msgspec.Struct)


class RequestMethods(ABC):
    """The requests of a client that can `ask`."""

    @abstractmethod
    def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""
{methods}

for _command in REQUESTS:
    _raises = f"\\n\\n    Raises: {{_command.errors}}." if _command.errors else ""
    getattr(RequestMethods, _command.name).__doc__ = f"{{_command.request.__doc__}}{{_raises}}"


def _make_async(
    method: Callable[Concatenate[RequestMethods, Parameters], Reply],
) -> Callable[Concatenate[AsyncRequestMethods, Parameters], Coroutine[Any, Any, Reply]]:
    """Return `method`, which returns what its client's `ask` does, for a client whose `ask` is awaited."""

    @wraps(method)
    async def call(client: AsyncRequestMethods, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Reply:
        reply: Reply = await cast("Any", method)(client, *args, **kwargs)
        return reply

    return call


class AsyncRequestMethods(ABC):
    """The requests of a client whose `ask` is awaited."""

    @abstractmethod
    async def ask(self, request: msgspec.Struct, kind: type[Reply], *, request_id: str = "") -> Reply:
        """Send `request` and return its reply."""

{awaited}'''
_LIBRARIES = {
    "abc": {"ABC", "abstractmethod"},
    "collections.abc": {"Callable", "Coroutine", "Sequence"},
    "functools": {"wraps"},
    "typing": {"Any", "Concatenate", "ParamSpec", "TypeVar", "cast"},
}
"""What the page takes from the standard library, besides what its signatures name."""


class _Source:
    """A module that declares requests, as it is written; `imports` collects what its types come from."""

    def __init__(self, module: ModuleType, imports: dict[str, set[str]]) -> None:
        tree = ast.parse(inspect.getsource(module))
        froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        self._homes = {alias.name: str(node.module) for node in froms for alias in node.names}
        self._classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self._module = module
        self._imports = imports

    def fields(self, request: type[msgspec.Struct]) -> list[ast.AnnAssign]:
        """Return the fields of `request` in their order."""
        return [node for node in self._classes[request.__name__].body if isinstance(node, ast.AnnAssign)]

    def parameter(self, command: Command, field: ast.AnnAssign) -> tuple[str, str]:
        """Return `field` as a method's parameter, and that parameter as the request takes it."""
        name = ast.unparse(field.target)
        kind = self._kind(field.annotation)
        if field.value is not None and ast.unparse(field.value) == "{}":
            self._imports["collections.abc"].add("Mapping")
            return f"{name}: {kind.replace('dict[', 'Mapping[')} | None = None", f"dict({name} or {{}})"
        taken = name
        if kind.startswith("Sequence["):
            taken = f"tuple({name})"
            if kind.endswith(" | None"):
                taken = f"None if {name} is None else tuple({name})"
            if (command.name, name) in ONE_OR_MORE:
                taken = f"tuple({name}) if isinstance({name}, Sequence) else ({name},)"
                kind += f" | {kind.removeprefix('Sequence[').removesuffix(']')}"
        default = "" if field.value is None else f" = {self._default(field.value)}"
        return f"{name}: {kind}{default}", taken

    def _kind(self, node: ast.expr) -> str:
        """Return the type of a field without its limits, with sequences where it has tuples."""
        match node:
            case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[kind, *_])):
                return self._kind(kind)
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[kind, *_])):
                return f"Sequence[{self._kind(kind)}]"
            case ast.BinOp(left=left, right=right):
                return f"{self._kind(left)} | {self._kind(right)}"
            case ast.Name(id=name) if typing.get_origin(getattr(self._module, name, None)) is typing.Annotated:
                return str(getattr(self._module, name).__origin__.__name__)
        return self._imported(node)

    def _default(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return repr(getattr(self._module, node.id))
        return self._imported(node)

    def _imported(self, node: ast.expr) -> str:
        """Return the source of `node`, whose names are imported."""
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        for name in names - set(dir(builtins)):
            self._imports[self._homes.get(name, self._module.__name__)].add(name)
        return ast.unparse(node)


def rendered() -> str:
    """Return the module that declares every request as a method of both clients."""
    imports: dict[str, set[str]] = defaultdict(set, {module: set(names) for module, names in _LIBRARIES.items()})
    imports["acud.protocol.requests"].add("REQUESTS")
    methods = "".join(_method(command, imports) for command in REQUESTS)
    awaited = "".join(f"    {command.name} = _make_async(RequestMethods.{command.name})\n" for command in REQUESTS)
    own = {module: names for module, names in imports.items() if module.startswith("acud.")}
    libraries = {module: names for module, names in imports.items() if module not in own}
    groups = (_imports(libraries), "import msgspec", _imports(own))
    return _HEAD.format(imports="\n\n".join(groups), methods=methods, awaited=awaited)


def _imports(names_of: dict[str, set[str]]) -> str:
    return "\n".join(
        _call(f"from {module} import ", sorted(names, key=lambda name: (not name.isupper(), name)), "", "")
        for module, names in sorted(names_of.items())
    )


def _method(command: Command, imports: dict[str, set[str]]) -> str:
    parameters, reply, arguments = _parts(command, imports)
    define = _call(f"    def {command.name}(", ["self", *parameters], "    ", f") -> {reply}:")
    request = command.request.__name__
    answer = f"        return self.ask({request}({', '.join(arguments)}), {reply})"
    if len(answer) > _WIDTH:
        made = _call(f"            {request}(", arguments, " " * 12, "),")
        answer = f"        return self.ask(\n{made}\n            {reply},\n        )"
    return f"\n{define}\n{_docstring(command)}\n{answer}\n"


def _call(start: str, items: list[str], indent: str, end: str) -> str:
    """Return `start`, `items` and `end` in a line, or the items in lines of their own, each as full as can be."""
    line = f"{start}{', '.join(items)}{end}"
    if len(line) <= _WIDTH:
        return line
    lines = [f"{indent}    {items[0]},"]
    for item in items[1:]:
        longer = f"{lines[-1]} {item},"
        if len(longer) <= _WIDTH:
            lines[-1] = longer
        else:
            lines.append(f"{indent}    {item},")
    return "\n".join([start.rstrip() if end else f"{start}(", *lines, f"{indent}{end or ')'}"])


def _parts(command: Command, imports: dict[str, set[str]]) -> tuple[list[str], str, list[str]]:
    source = _Source(sys.modules[command.request.__module__], imports)
    fields = source.fields(command.request)
    for kind in (command.request, command.reply):
        imports[kind.__module__].add(kind.__name__)
    pairs = [source.parameter(command, field) for field in fields]
    parameters = [parameter for parameter, _ in pairs]
    required = sum(field.value is None for field in fields)
    by_position = required if command.positional is None else command.positional
    if by_position < len(parameters):
        parameters.insert(by_position, "*")
    return parameters, command.reply.__name__, [taken for _, taken in pairs]


def _docstring(command: Command) -> str:
    first = (inspect.getdoc(command.request) or "").split("\n\n")[0]
    return _wrapped(f'"""{first}"""')


def _wrapped(text: str) -> str:
    lines = textwrap.wrap(" ".join(text.split()), _WIDTH - 8, break_on_hyphens=False, break_long_words=False)
    return textwrap.indent("\n".join(lines), " " * 8)


def main(args: list[str]) -> None:
    """Write the file, or tell whether it is what the declarations say."""
    text = rendered()
    if args == ["--check"]:
        if PAGE.read_text() != text:
            raise SystemExit(f"{PAGE.name} is out of date; write it: python -m scripts.client_methods")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
