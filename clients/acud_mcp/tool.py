"""What one tool is: a row of the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Protocol

import msgspec

from acud.protocol.requests import BY_NAME
from acud_mcp.options import Options


class Effect(Enum):
    """What a call may do to the world; becomes the tool's annotations."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"


class Asking(Protocol):
    """What a tool's handler may use: the daemon behind this call, and the caller's ear."""

    options: Options

    async def ask(self, request: msgspec.Struct) -> Any:
        """Return the daemon's reply. Raises: AcudError."""
        ...

    async def ask_slowly(self, request: msgspec.Struct, seconds: float) -> Any:
        """The same for a request that may block for `seconds`; the caller hears of progress meanwhile."""
        ...


class Shown(msgspec.Struct, frozen=True):
    """A result with an image block beside it."""

    value: msgspec.Struct
    image: bytes
    mime_type: str


Handler = Callable[[Asking, Any], Awaitable[Any]]


class Tool(msgspec.Struct, frozen=True):
    """`about`: the description a model reads. `requests`: the tool exists only where all of these exist.

    `arguments` and `result` are structs that become the schemas (None: those of the first request and of its reply).
    `run` takes the call and an `arguments`, and returns a `result` (None: the arguments are the request, the reply the
    result). `aliases` maps other names a caller may use for an argument. `hidden` arguments are taken and not listed.
    `passed` arguments exist only where the first request has such a field. `params` describes arguments. `shows`: the
    members of the result that the schema lists (none: all); an open schema may leave out what explains itself.
    `quotes_screens`: a result that has no such member itself is marked as holding words from screens.
    """

    name: str
    toolset: str
    about: str
    effect: Effect
    requests: tuple[str, ...] = ()
    arguments: type[msgspec.Struct] | None = None
    result: type[msgspec.Struct] | None = None
    run: Handler | None = None
    aliases: dict[str, str] = {}
    hidden: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    params: dict[str, str] = {}
    shows: tuple[str, ...] = ()
    always_load: bool = False
    needs_workspace: bool = False
    quotes_screens: bool = False

    @property
    def exists(self) -> bool:
        """Whether this version of the protocol has every request the tool needs."""
        return all(name in BY_NAME for name in self.requests)

    @property
    def arguments_type(self) -> type[msgspec.Struct]:
        """The struct that a call's arguments become."""
        return self.arguments or BY_NAME[self.requests[0]].request

    @property
    def result_type(self) -> type[msgspec.Struct]:
        """The struct that the structured content is made from."""
        return self.result or BY_NAME[self.requests[0]].reply

    @property
    def unlisted(self) -> frozenset[str]:
        """Arguments that the schema does not show: hidden ones, and those this protocol has no field for."""
        fields = BY_NAME[self.requests[0]].request.__struct_fields__ if self.requests else ()
        return frozenset(self.hidden) | {name for name in self.passed if name not in fields}


def passed_on(tool_arguments: msgspec.Struct, request: type[msgspec.Struct], *names: str) -> dict[str, Any]:
    """Return the arguments in `names` that `request` has a field for and the caller gave."""
    return {
        name: getattr(tool_arguments, name)
        for name in names
        if name in request.__struct_fields__ and getattr(tool_arguments, name)
    }
