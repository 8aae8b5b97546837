"""What one tool is: a row of the table, its arguments, and their JSON Schema; and the options of the server it is in.

Each listed word of a schema fills the model's context for a whole session, so limits that the daemon checks, titles,
and defaults that mean "not given" are left out. There is no schema of results: a tool that has one may not answer with
a picture and text alone, and hosts show a model the structure in place of the picture.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from acud.base.errors import InvalidRequest, suggest
from acud.base.paths import Paths
from acud.base.typed_values import convert
from acud.base.value_errors import value_fault
from acud.protocol.requests import Command, find_command
from acud.protocol.requests.command import Effect
from acud_client.own_display import OwnDisplay
from acud_mcp.scene_changes import KnownScenes
from acud_mcp.selection import Selection


class Options(msgspec.Struct, frozen=True):
    """`caps` and `tools` empty: everything. `workspace` None: no memory tools. `tasks_extension`: clients that declare
    it get waits as task handles. `here`: the display of calls that name none (None: the daemon's default). `absent`:
    what is missing, as in `Selection`. `block_s`: how long a call may block (None: as its host is known to wait).
    """

    paths: Paths
    caps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    read_only: bool = False
    workspace: Path | None = None
    tasks_extension: bool = True
    here: OwnDisplay | None = None
    absent: frozenset[str] = frozenset()
    block_s: float | None = None

    @property
    def selection(self) -> Selection:
        absent = self.absent | (frozenset() if self.workspace else {"workspace"})
        return Selection(self.caps, self.tools, self.read_only, absent)


class ToolCall(Protocol):
    """What a tool's handler may use: the daemon, and the way to report progress. `scenes`: those of its session."""

    options: Options
    scenes: KnownScenes

    async def first_wait_to_end(self, block_s: float) -> str:
        """Return the id of the session's wait that ends first, or its newest after `block_s`. Raises: NotFound."""

    @property
    def client(self) -> str:
        """The host's own name, "" if it gave none."""

    @property
    def block_s(self) -> float:
        """The longest that this call may block: its host gives it up after that. A longer wait goes on in the daemon,
        and the answer names the call that returns it.
        """

    async def ask(self, request: msgspec.Struct) -> Any:
        """Return the daemon's reply. Raises: AcudError."""

    async def ask_slowly(self, request: msgspec.Struct, seconds: float) -> Any:
        """The same for a request that may block for `seconds`; progress is reported to the caller meanwhile."""


class ImageResult(msgspec.Struct, frozen=True):
    """A result with an image block beside it."""

    value: msgspec.Struct
    image: bytes
    mime_type: str


View = TypeVar("View", bound=msgspec.Struct)


def make_view(kind: type[View], reply: Any, **more: Any) -> View:
    """Return a `kind` with the members of `reply` that have the names of its own, and `more`."""
    return kind(**{name: getattr(reply, name) for name in kind.__struct_fields__ if hasattr(reply, name)} | more)


class TextResult(msgspec.Struct, frozen=True):
    """A result that is text by acud: words of screens are quoted in it, and it marks them so."""

    text: str


Handler = Callable[[ToolCall, Any], Awaitable[Any]]


class Tool(msgspec.Struct, frozen=True):
    """`about`: the description for the model. `request`: the one that it is, or the strongest of those that it makes,
    whose effect is that of a call (`own_effect`: for a tool that asks the daemon nothing).

    `arguments` and `result` are structs that become the schemas (None: those of the request and of its reply). `run`
    takes the call and an `arguments`, and returns a `result` (None: the arguments are the request, the reply the
    result). `aliases` maps other names a caller may use for an argument, `value_aliases` other words for its values.
    `hidden` arguments are taken and not listed; the tool `help` lists them. `params` describes arguments, hidden ones
    too. `shows`: the members of the result that the manual names (none: all). `quotes_screens`: a result that has no
    such member itself is marked as holding words from screens. `wants`: what must exist for it to be listed, beside the
    feature of its request.
    """

    name: str
    toolset: str
    about: str
    request: type[msgspec.Struct] | None = None
    arguments: type[msgspec.Struct] | None = None
    result: type[msgspec.Struct] | None = None
    run: Handler | None = None
    aliases: dict[str, str] = {}
    value_aliases: dict[str, dict[str, str]] = {}
    hidden: tuple[str, ...] = ()
    params: dict[str, str] = {}
    shows: tuple[str, ...] = ()
    always_load: bool = False
    wants: Literal["", "workspace", "planner"] = ""
    quotes_screens: bool = False
    own_effect: Effect = Effect.READS

    @property
    def effect(self) -> Effect:
        """What a call may do to the world; becomes the tool's annotations."""
        return self.own_effect if self.request is None else find_command(self.request).effect

    @property
    def reads_only(self) -> bool:
        """Whether a call changes nothing."""
        return self.effect is Effect.READS

    @property
    def needs(self) -> tuple[str, ...]:
        feature = "" if self.request is None else find_command(self.request).feature
        return tuple(filter(None, (self.wants, feature)))

    @property
    def arguments_type(self) -> type[msgspec.Struct]:
        return self.arguments or self._command.request

    @property
    def _command(self) -> Command:
        assert self.request is not None, f"{self.name} is no request: it needs arguments and a result"
        return find_command(self.request)


def parse_arguments(tool: Tool, arguments: dict[str, Any] | None) -> msgspec.Struct:
    """Return the arguments of a call. Strings that spell a number or a truth value are taken as such, because models
    and command lines send them so; nulls count as not given.

    Raises: InvalidRequest naming the argument at fault.
    """
    kind = tool.arguments_type
    named = _resolve_aliases(tool, arguments or {})
    unknown = [name for name in named if name not in kind.__struct_fields__]
    if unknown:
        near = suggest(unknown[0], kind.__struct_fields__)
        known = ", ".join(name for name in kind.__struct_fields__ if name not in tool.hidden) or "none"
        raise InvalidRequest(f"{tool.name} has no argument {unknown[0]!r}", hint=f"{near}arguments: {known}")
    try:
        return convert(named, kind, strict=False)
    except msgspec.ValidationError as fault:
        raise _describe_argument_error(tool, fault) from fault


_ONE_OF_SEVERAL = frozenset({"status"})
"""Other names that mean one value of an argument that takes several."""


def _resolve_aliases(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in arguments.items():
        if value is not None:
            meant = tool.aliases.get(name, name)
            one = name in _ONE_OF_SEVERAL and meant != name and isinstance(value, str)
            if isinstance(value, str):
                value = tool.value_aliases.get(meant, {}).get(value, value)
            named.setdefault(meant, [value] if one else value)
    return named


def _describe_argument_error(tool: Tool, fault: msgspec.ValidationError) -> InvalidRequest:
    words = value_fault(fault, tool.arguments_type, lax=True).of("the arguments")
    return InvalidRequest(f"{tool.name}: {words}", hint="mend the argument and call again")


Schema = dict[str, Any]

_KEPT = ("type", "enum", "default", "items")
_UNSAID: tuple[Any, ...] = ("", False, 0, 0.0, None, [], (), {})

GLOSSARY = {
    "target": "window:TITLE, region:x,y,w,h, display:NAME, …",
    "timeout": "seconds",
    "wait_id": "id, or its beginning",
    "display": "name of the display, in place of target",
    "max_side": "longest side of the picture in pixels; 0: full size",
    "force": "even where many waits are live",
    "backend": "the one method or model that looks",
    "task_id": "the task that it belongs to, whose display screen then means",
    "session_key": "your session, to be woken there",
    "limit": "at most so many",
    "item": "number of the plan item, from 1",
    "max_tokens": "the longest answer",
}
"""Words for arguments that several tools share; a tool's own `params` go first."""

_LISTED_WORDS = ("target",)
"""Those of the glossary that the list shows, once or twice: of the tools that every host loads. `help` shows all."""


def input_schema(tool: Tool) -> Schema:
    properties: Schema = {}
    for name, node in argument_schemas(tool).items():
        if name not in tool.hidden:
            is_listed = tool.always_load and name in _LISTED_WORDS
            words = tool.params.get(name, GLOSSARY[name] if is_listed else "")
            properties[name] = node | ({"description": words} if words else {})
    schema: Schema = {"type": "object", "properties": properties}
    required = [name for name in _find_definition(tool.arguments_type).get("required", ()) if name in properties]
    return schema | ({"required": required} if required else {})


def argument_schemas(tool: Tool) -> dict[str, Schema]:
    """Return the schema of each argument of `tool`, hidden ones too, without words."""
    kind = tool.arguments_type
    nodes = _find_definition(kind)["properties"].items()
    return {name: _slim_schema(node, _list_components(kind)) for name, node in nodes if not _is_tag(kind, name)}


def describe_argument(tool: Tool, name: str) -> str:
    """Return the description of an argument of `tool`, "" if its name is enough."""
    return tool.params.get(name, GLOSSARY.get(name, ""))


def _list_components(kind: type[msgspec.Struct]) -> Schema:
    _, components = msgspec.json.schema_components((kind,), ref_template="{name}")
    return components


def _find_definition(kind: type[msgspec.Struct]) -> Schema:
    definition: Schema = _list_components(kind)[kind.__name__]
    return definition


def _is_tag(kind: type[msgspec.Struct], name: str) -> bool:
    return kind.__struct_config__.tag_field == name


def _slim_schema(node: Schema, components: Schema) -> Schema:
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _slim_schema(components[node["$ref"]] | rest, components)
    if "anyOf" in node:
        # Hosts of Gemini take one type for each argument: an object, else the first that it may be, is listed; the
        # others are taken.
        parts = [part for part in node["anyOf"] if part != {"type": "null"}]
        return _slim_schema(next((part for part in parts if "$ref" in part), parts[0]), components)
    slim = {key: node[key] for key in _KEPT if key in node}
    if "enum" in slim:
        slim = {"type": "string"} | slim
    if slim.get("default") in _UNSAID:
        slim.pop("default", None)
    if slim.get("type") == "array":
        items = node["prefixItems"][0] if "prefixItems" in node else node.get("items", {})
        slim["items"] = _slim_schema(items, components)
    return slim
