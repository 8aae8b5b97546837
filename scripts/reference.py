"""Reference pages made from the code. Committed: the tables of docs/mcp.md from the tools, docs/llms.txt from
docs/index.md, and clients/acud_mcp/listing.json, from which `acud mcp` answers first. A contract test holds them up to
date.

Made with the site alone (`python -m scripts.reference --site FOLDER` writes them complete): docs/cli.md from click,
docs/mcp-tools.md from the tools, docs/protocol.md from the messages, docs/metrics.md from the catalogue,
docs/openapi.md from the OpenAPI document, docs/settings.md from conf/acud.toml, the threats of docs/promises.md from
docs/threats.md, the example of docs/waiting-example.md from acud.waits.example. Of these the checkout
has what is written by hand, with empty marks.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import inspect as shapes

from acud.base import errors
from acud.metrics.catalogue import FAMILIES
from acud.protocol import capture, children, delivery, envelope, evaluation, events
from acud.protocol.requests import REQUESTS, Command, find_command
from acud.types.scene import Scene
from acud.waits import example
from scripts import concept_drawings, cost_plot, diagram, openapi_page, settings_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INDEX_PAGE = ROOT / "docs" / "index.md"
LLMS = ROOT / "docs" / "llms.txt"
MCP_PAGE = ROOT / "docs" / "mcp.md"
MCP_LISTING = ROOT / "clients" / "acud_mcp" / "listing.json"
THREATS_PAGE = ROOT / "docs" / "threats.md"
SETTINGS = ROOT / "conf" / "acud.toml"
PICTURES = ROOT / "docs" / "pictures"
_WIDTH = 100

# ---- the protocol --------------------------------------------------------------------------------------------------


def renewed(page: str, generated: dict[str, Callable[[], str]], path: Path) -> str:
    """Return `page` with the text between each pair of `generated` marks made anew."""
    for name, render in generated.items():
        pattern = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = render().replace("\\", r"\\")
        page, found = pattern.subn(rf"\g<1>\n{text}\n\n\g<2>", page)
        if found != 1:
            raise SystemExit(f"docs: {path} has {found} places for {name!r}, not one")
    return page


def _requests() -> str:
    rows = [
        f"| [`{s.name}`](#{s.name}) | {_nature(s)} | {s.effect.value} | {s.fleet.value} | {_summary(s.request)} |"
        for s in REQUESTS
    ]
    return "\n".join(["| request | nature | effect | fleet | what it does |", "|---|---|---|---|---|", *rows])


def _nature(spec: Command) -> str:
    words = [word for word in ("mutating", "deferred", "outside") if getattr(spec, word, False)]
    return ", ".join(words) or "plain"


def _request_sections() -> str:
    return "\n\n".join(
        f"### {spec.name}\n\n{_nature(spec).capitalize()}. {_prose(spec.request)}{_errors(spec)}\n\n"
        f"{_fields(spec.request)}\n\nReply `{spec.reply.__name__}`: {_prose(spec.reply)}\n\n{_fields(spec.reply)}"
        for spec in REQUESTS
    )


def _errors(spec: Command) -> str:
    """Return what `Command.errors` says, with codes for classes."""
    if not spec.errors:
        return ""
    words = (part.replace(",", " ,").partition(" ") for part in spec.errors.split("; "))
    told = [f"`{getattr(errors, kind).code}` {rest}".strip().replace(" ,", ",") for kind, _, rest in words]
    return f" Errors: {'; '.join(told)}."


def _nested_types() -> str:
    known = {spec.request for spec in REQUESTS} | {spec.reply for spec in REQUESTS}
    found: dict[type, None] = {}
    for kind in [*known, events.Event]:
        for inner in _structs_in(kind):
            if inner not in known and inner is not events.Event:
                found[inner] = None
    return "\n\n".join(_type_section(kind) for kind in sorted(found, key=_name))


def _structs_in(kind: type) -> Iterator[type]:
    seen: set[type] = set()
    todo = [kind]
    while todo:
        one = todo.pop()
        for field in msgspec.structs.fields(one):
            fresh = [cls for cls in _classes(shapes.type_info(field.type)) if cls not in seen]
            seen.update(fresh)
            todo += fresh
    yield from seen


def _classes(shape: Any) -> Iterator[type]:
    if isinstance(shape, shapes.StructType):
        yield shape.cls
    for inner in _inner(shape):
        yield from _classes(inner)


def _inner(shape: Any) -> list[Any]:
    match shape:
        case shapes.UnionType():
            return list(shape.types)
        case shapes.VarTupleType() | shapes.ListType():
            return [shape.item_type]
        case shapes.TupleType():
            return list(shape.item_types)
        case shapes.DictType():
            return [shape.key_type, shape.value_type]
        case _:
            return []


def _type_section(kind: type) -> str:
    tag = msgspec.inspect.type_info(kind).tag
    tagged = f' (tag `"{tag}"`)' if tag else ""
    return f"### {_name(kind)}{tagged}\n\n{_prose(kind)}\n\n{_fields(kind)}"


def _name(kind: type) -> str:
    """Return the type's name, of a generic one with what it is of."""
    of = ", ".join(inner.__name__ for inner in typing.get_args(kind))
    return f"{kind.__name__}[{of}]" if of else kind.__name__


def _event_topics() -> str:
    return ", ".join(f"`{topic}`" for topic in events.TOPICS)


def _children() -> str:
    groups = {
        "capture → supervisor": capture.FromCapture,
        "supervisor → capture": capture.ToCapture,
        "supervisor → evaluator": evaluation.ToEvaluator,
        "evaluator → supervisor": evaluation.FromEvaluator,
        "supervisor → relay": delivery.ToDelivery,
        "relay → supervisor": delivery.FromDelivery,
        "supervisor → web": children.ToWeb,
        "web → supervisor": children.FromWeb,
    }
    rows = [
        f"| {way} | `{kind.__struct_config__.tag}` | {_summary(kind)} |"
        for way, union in groups.items()
        for kind in typing.get_args(union) or (union,)
    ]
    return "\n".join(["| way | tag | what |", "|---|---|---|", *rows])


def _error_codes() -> str:
    kinds = sorted(errors._BY_CODE.values(), key=lambda kind: [c.__name__ for c in reversed(kind.__mro__)])
    rows = [f"| `{kind.code}` | {kind.__name__} | {_summary(kind)} |" for kind in kinds]
    return "\n".join(["| code | class | meaning |", "|---|---|---|", *rows])


def _summary(kind: type) -> str:
    return _cell(inspect.getdoc(kind).split("\n\n")[0])


def _prose(kind: type) -> str:
    return " ".join(inspect.getdoc(typing.get_origin(kind) or kind).split())


def _fields(kind: type) -> str:
    fields = msgspec.structs.fields(kind)
    if not fields:
        return "No fields."
    rows = [f"| `{f.name}` | {_cell(_type(shapes.type_info(f.type)))} | {_cell(_default(f))} |" for f in fields]
    return "\n".join(["| field | type | default |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(field: Any) -> str:
    if field.default is not msgspec.NODEFAULT:
        plain = msgspec.to_builtins(field.default)
        return (
            f"`{msgspec.json.encode(plain).decode()}`" if not isinstance(field.default, msgspec.Struct) else "its own"
        )
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default_factory()).decode()}`"
    return "required"


def _type(shape: Any) -> str:
    """Return a field's type as a reader of the protocol needs it."""
    match shape:
        case shapes.UnionType():
            return " or ".join(_type(inner) for inner in shape.types)
        case shapes.StructType():
            return shape.cls.__name__
        case shapes.EnumType():
            return " or ".join(f'"{member.value}"' for member in shape.cls)
        case shapes.LiteralType():
            return " or ".join(f'"{value}"' for value in sorted(shape.values))
        case shapes.VarTupleType() | shapes.ListType():
            return f"list of {_type(shape.item_type)}{_limits(shape.min_length, shape.max_length, 'items')}"
        case shapes.TupleType():
            return f"[{', '.join(_type(inner) for inner in shape.item_types)}]"
        case shapes.DictType():
            return f"map of {_type(shape.key_type)} to {_type(shape.value_type)}"
        case shapes.IntType() | shapes.FloatType():
            return f"{'int' if isinstance(shape, shapes.IntType) else 'float'}{_range(shape)}"
        case shapes.StrType():
            pattern = f" matching `{shape.pattern}`" if shape.pattern else ""
            return f"text{pattern}{_limits(shape.min_length, shape.max_length, 'characters')}"
        case _:
            return type(shape).__name__.removesuffix("Type").lower()


def _limits(least: int | None, most: int | None, what: str) -> str:
    if least is None and most is None:
        return ""
    return f" ({least or 0} to {most} {what})" if most is not None else f" (at least {least} {what})"


def _range(shape: Any) -> str:
    bounds = [(">", shape.gt), ("≥", shape.ge), ("<", shape.lt), ("≤", shape.le)]
    words = [
        f"{sign} {bound:g}" if abs(bound) < 1e5 else f"{sign} {bound}" for sign, bound in bounds if bound is not None
    ]
    return f" ({', '.join(words)})" if words else ""


GENERATED: dict[str, Callable[[], str]] = {
    "requests": _requests,
    "request sections": _request_sections,
    "types": _nested_types,
    "topics": _event_topics,
    "children": _children,
    "errors": _error_codes,
    "envelopes": lambda: "\n\n".join(
        _type_section(kind) for kind in (envelope.RequestEnvelope, envelope.ReplyEnvelope, envelope.ErrorBody)
    ),
    "told": lambda: "\n\n".join(_type_section(kind) for kind in (events.Event, events.Beat)),
}

# ---- llms.txt ------------------------------------------------------------------------------------------------------


def llms() -> str:
    """Return docs/llms.txt: the landing page as agents look for it at the root of the site (llmstxt.org)."""
    title, _, rest = INDEX_PAGE.read_text(encoding="utf-8").partition("\n")
    about = " ".join(rest.strip().partition("\n\n")[0].split())
    lines = [title, "", f"> {about}"]
    section = ""
    for line in rest.replace("\n  ", " ").splitlines():
        if line.startswith("## "):
            section = line
        elif re.match(r"- \[[^\]]+\]\([\w/.-]+\.md\)", line):
            lines += ["", section, ""] if section else []
            section = ""
            lines.append(line)
    return "\n".join(lines) + "\n"


# ---- the MCP tools -------------------------------------------------------------------------------------------------


def mcp_tools() -> str:
    """Return a table of the tools, and a section for each."""
    from acud_mcp.server import TOOLS

    there = TOOLS
    rows = [f"| [`{t.name}`](#{t.name}) | {t.toolset} | {t.effect.value} | {_cell(t.about)} |" for t in there]
    head = ["| tool | toolset | effect | what it does |", "|---|---|---|---|"]
    return "\n\n".join(["\n".join([*head, *rows]), *map(_tool_section, there)])


def _tool_section(tool: Any) -> str:
    from acud_mcp.tool import input_schema

    taken = input_schema(tool)
    rows = [_argument(name, node, taken) for name, node in taken["properties"].items()]
    table = "\n".join(["| argument | type | default | |", "|---|---|---|---|", *rows]) if rows else "No arguments."
    others = [f"`{alias}` for `{name}`" for alias, name in tool.aliases.items()]
    others += [f"`{name}`" for name in sorted(tool.hidden)]
    beside = f"\n\nTaken as well: {', '.join(others)}." if others else ""
    result = tool.result or find_command(tool.request).reply
    given = ", ".join(f"`{name}`" for name in tool.shows or result.__struct_fields__)
    return f"## {tool.name}\n\n{tool.about}\n\n{table}{beside}\n\nReturns {given}."


def _argument(name: str, node: dict[str, Any], schema: dict[str, Any]) -> str:
    kind = " or ".join(f'"{value}"' for value in node["enum"]) if "enum" in node else node.get("type", "any")
    default = "required" if name in schema.get("required", ()) else ""
    default = f"`{node['default']}`" if "default" in node else default
    return f"| `{name}` | {kind} | {default} | {_cell(node.get('description', ''))} |"


def _caps() -> str:
    from acud_mcp.selection import CAPS

    return "\n".join(
        ["| toolset | what is in it |", "|---|---|", *(f"| `{n}` | {words} |" for n, words in CAPS.items())]
    )


def mcp_listing() -> str:
    """Return the file from which `acud mcp` answers a host's first questions."""
    from acud_mcp.server import make_listing

    return json.dumps(make_listing(), indent=1, ensure_ascii=False) + "\n"


def _patient_hosts() -> str:
    from acud_mcp.block_limits import PATIENT

    return ", ".join(f"`{name}`" for name in sorted(PATIENT)) + "."


MCP_GENERATED: dict[str, Callable[[], str]] = {"toolsets": _caps, "hosts": _patient_hosts}

# ---- promises ------------------------------------------------------------------------------------------------------


def threats() -> str:
    """Return a table for each attacker of docs/threats.md: what it can try, and the test that acud stops it."""
    parts = []
    for section in THREATS_PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        attacker, _, text = section.partition("\n")
        for table in re.findall(r"^\| can try \|.*\n\|[-|]+\n((?:\|.*\n?)+)", text, re.MULTILINE):
            cells = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in table.splitlines()]
            rows = [f"| {wanted} | {shown} |" for wanted, _, shown, _ in cells]
            parts.append("\n".join([f"### {attacker}\n", "| promise | test |", "|---|---|", *rows]))
    return "\n\n".join(parts)


# ---- the web API ---------------------------------------------------------------------------------------------------


def _openapi() -> dict[str, Any]:
    from acud_web import api, application
    from acud_web.api import document

    return document.document(application.ROWS, api.OPERATIONS)


# ---- the command line ----------------------------------------------------------------------------------------------


def cli_commands() -> str:
    """Return a section for each command, with its help."""
    from acud_cli.app import cli

    return "\n".join(_command_section(path, command) for path, command in _commands("acud", cli, None))


def _commands(
    path: str, command: click.Command, parent: click.Context | None, seen: set[int] | None = None
) -> Iterator[tuple[str, click.Context]]:
    """Yield every command with its context; one that has two names under the first alone."""
    seen = set() if seen is None else seen
    wide = {**command.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = click.Context(command, info_name=path.split()[-1], parent=parent, **wide)
    yield path, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            if id(inner) not in seen:
                seen.add(id(inner))
                yield from _commands(f"{path} {name}", inner, context, seen)


def _command_section(path: str, context: click.Context) -> str:
    marks = "#" * min(4, 1 + len(path.split()))
    text = "\n".join(line.rstrip() for line in context.get_help().splitlines())
    return f"{marks} {path}\n\n```text\n{text}\n```\n"


# ---- the scene -----------------------------------------------------------------------------------------------------


def scene_schema() -> str:
    """Return the JSON Schema (2020-12) of a scene."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Scene)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# ---- metrics -------------------------------------------------------------------------------------------------------


def metric_families() -> str:
    """Return the table of everything that is measured."""
    rows = [
        f"| `{one.name}` | {one.kind.value} | {', '.join(f'`{label}`' for label in one.labels)} | {one.help} |"
        for one in FAMILIES
    ]
    return "\n".join(["| family | kind | labels | what it tells |", "|---|---|---|---|", *rows])


# ---- writing -------------------------------------------------------------------------------------------------------


def pages() -> dict[Path, str]:
    """Return what each committed page should hold now."""
    made = {MCP_PAGE: renewed(MCP_PAGE.read_text(encoding="utf-8"), MCP_GENERATED, MCP_PAGE)}
    made[PICTURES / "architecture.svg"] = diagram.architecture()
    made |= {PICTURES / name: draw() for name, draw in concept_drawings.drawings().items()}
    figures = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    made |= {PICTURES / f"cost-{theme}.svg": cost_plot.plot(figures, theme) for theme in cost_plot.THEMES}
    return made | {MCP_LISTING: mcp_listing(), LLMS: llms()}


def site_files() -> dict[str, str]:
    """Return the pages that are made with the site, complete, and the documents for programs, by name."""
    openapi = _openapi()
    parts: dict[str, dict[str, Callable[[], str]]] = {
        "cli.md": {"commands": cli_commands},
        "mcp-tools.md": {"tools": mcp_tools},
        "metrics.md": {"families": metric_families},
        "openapi.md": {"operations": lambda: openapi_page.operations(openapi)},
        "promises.md": {"threats": threats},
        "protocol.md": GENERATED,
        "settings.md": {"keys": lambda: settings_page.keys(SETTINGS.read_text(encoding="utf-8"))},
        "waiting-example.md": {"example": example.table},
    }
    made = {name: renewed((DOCS / name).read_text(encoding="utf-8"), of, DOCS / name) for name, of in parts.items()}
    made["openapi.json"] = json.dumps(openapi, indent=1, ensure_ascii=False) + "\n"
    return made | {"scene.schema.json": scene_schema()}


def main() -> int:
    """Write the pages, with --check print which are out of date, with --site FOLDER write those of the site there."""
    if sys.argv[1:2] == ["--site"]:
        folder = Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in site_files().items():
            (folder / name).write_text(text, encoding="utf-8")
        return 0
    made = pages()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"docs: {path.relative_to(ROOT)} is out of date; run scripts/docs", file=sys.stderr)
        return bool(stale)
    for path in stale:
        path.write_text(made[path], encoding="utf-8")
        print(f"docs: wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
