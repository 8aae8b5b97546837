"""What the model of a run may call, and what it meant. Arguments are checked; nothing a model says is run as it is."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from acud.errors import InvalidRequest
from acud.types.chat import ChatCall, ChatTool

Words = Annotated[str, Meta(min_length=1, max_length=2000)]


class Do(Struct, frozen=True, forbid_unknown_fields=True):
    """Do one thing on the screen."""

    instruction: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=2000,
            description="one action in words, such as: click the Save button; type 'hello' into the Name field;"
            " press ctrl+s; scroll down; select Red in the Colour list; drag the slider to the Volume label;"
            " click(640, 120) in pixels of the picture",
        ),
    ]
    expect: Annotated[
        str, Meta(max_length=2000, description="what should be visible afterwards, when more than any change")
    ] = ""


class WaitUntil(Struct, frozen=True, forbid_unknown_fields=True):
    """Wait until something is visible."""

    until: Annotated[str, Meta(min_length=1, max_length=2000, description="what must be visible")]
    timeout_s: Annotated[float, Meta(gt=0, le=300, description="seconds, at most 300")] = 30.0


class Done(Struct, frozen=True, forbid_unknown_fields=True):
    """Say that the whole instruction has been carried out; it is checked."""

    shows: Annotated[
        str, Meta(min_length=1, max_length=2000, description="what on the screen proves it, as a condition to check")
    ]


class Escalate(Struct, frozen=True, forbid_unknown_fields=True):
    """Give up and say why: it is impossible, unsafe, or needs a decision that is not yours."""

    reason: Annotated[str, Meta(min_length=1, max_length=2000, description="one or two sentences")]


Decision = Do | WaitUntil | Done | Escalate

_KINDS: dict[str, type[Struct]] = {"do": Do, "wait": WaitUntil, "done": Done, "escalate": Escalate}


def offered() -> tuple[ChatTool, ...]:
    """Return the tools as a model is told of them."""
    return tuple(_tool(name, kind) for name, kind in _KINDS.items())


def _tool(name: str, kind: type[Struct]) -> ChatTool:
    ((_, parts),) = [msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")]
    schema: dict[str, Any] = dict(parts[kind.__name__])
    schema.pop("title", None)
    about = schema.pop("description", "")
    return ChatTool(name, about, msgspec.json.encode(schema).decode())


def decided(call: ChatCall) -> Decision:
    """Return what `call` asks for. Raises: InvalidRequest saying what is wrong with it, for the model to read."""
    kind = _KINDS.get(call.name)
    if kind is None:
        raise InvalidRequest(f"there is no tool {call.name[:60]!r}", hint="tools: " + ", ".join(_KINDS))
    try:
        found: Any = msgspec.json.decode(call.arguments or "{}", type=kind)
    except msgspec.DecodeError as fault:
        raise InvalidRequest(f"{call.name}: {fault}"[:500]) from fault
    return found  # type: ignore[no-any-return]


def words(decision: Decision) -> str:
    """Return the decision's own words, for the log."""
    if isinstance(decision, Do):
        return decision.instruction
    if isinstance(decision, WaitUntil):
        return decision.until
    return decision.shows if isinstance(decision, Done) else decision.reason


def kind_of(decision: Decision) -> str:
    """Return the name of the tool."""
    return next(name for name, kind in _KINDS.items() if type(decision) is kind)
