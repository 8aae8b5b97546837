"""What a request's file declares about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal

from msgspec import Struct

from acud.protocol.web import Scope

FIRST_USE_S = 30.0
"""`screen` may mean a managed display that is started now, with `[display] start_deadline_s`."""
DISPLAY_S = 60.0
"""An X server, a session bus and a window manager start or end: each has a deadline of its own in the daemon."""
GRAB_S = 30.0
"""A picture at the end has to be grabbed and encoded, which takes the daemon 5 and 20 s at most."""
SEARCH_S = 120.0
"""A model may think for so long; text alone takes a second or two."""
ROUTE_S = 60.0
"""A command that brings a wake may take half a minute (`[wake] command_timeout_s`), after others of its kind."""


class Effect(Enum):
    """What a request may do to the world, the weakest first."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"


class FleetRoute(Enum):
    """Where a request goes that reaches a fleet's endpoint."""

    NEVER = "never"
    """To no host: clients ask the daemon itself."""
    ENDPOINT = "endpoint"
    """The endpoint itself."""
    ALL = "all"
    """All hosts; the endpoint merges their replies."""
    PLACED = "placed"
    """The host that has room for the display that the request starts."""
    HOST = "host"
    """The host on which the named object lives."""


class McpTool(Struct, frozen=True):
    """A tool that is its request: its fields are the arguments, and its reply the result. Those `hidden` are taken, not
    listed. `about`: what a model reads of it. `quotes_screens`: the result holds words from screens. `params`:
    descriptions of arguments, where the name is not enough, and of each hidden one. `aliases`: other names that a
    caller may use.
    """

    about: str
    toolset: str
    hidden: tuple[str, ...] = ()
    quotes_screens: bool = False
    params: dict[str, str] = {}
    aliases: dict[str, str] = {}


def _nothing_more(_request: Any) -> Scope:
    return Scope.READ


class RestOperation(Struct, frozen=True):
    """An operation that is its request: its fields are the query of a GET or DELETE and the body of a POST, its reply
    the answer. `path_fields`: which field a part of the path stands for.

    `scope`: what an access token needs for any of these requests; `needs` returns what this one needs. An access token
    that is limited to displays or tasks is good for a request that names one of them: by its wait or its task, or its
    display (`acud_web.api`). With `whole` (what the operation reveals), only unlimited access tokens are good
    for it.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    scope: Scope
    whole: str = ""
    path_fields: Mapping[str, str] = {}
    needs: Callable[[Any], Scope] = _nothing_more


class Command(Struct, frozen=True):
    """One request: its type (whose tag is its name and whose docstring documents it), its reply, and its nature.

    `mutating`: its (id, digest, reply) is stored in its transaction, so a repeat answers as the first did. `deferred`:
    the reply may come later; the client re-asks with the same id after a time-out. `outside`: it has effects outside
    the store, so its start is recorded first: a repeat that finds no reply (the supervisor died over it) answers
    `outcome_unknown`. Others are done anew then: nothing of them was kept. `limit_s`: a client's time limit is at least
    this. `asked_s` returns the time that a request itself asks for, which comes on top of the limit. `begins`: what a
    draining daemon would have to wait for, so it takes none ("": nothing); or a function that returns it for a request.
    `writes`: it changes something though no reply of it is stored. `destroys`: it ends or removes something, or does
    what can't be taken back. `fleet`: where it is answered at a fleet's endpoint. `feature`: which feature answers it
    ("": the core does); where that is switched off, the answer is an error `not_enabled`. `tool`, `rest`: the MCP tool
    and the REST operation that are made from it. Tools and operations of several requests, and the words of the CLI,
    are written by hand; both Python clients have every request. `positional`: how many of its fields the Python
    clients' methods take by position (None: those without a default). `errors`: those to expect of it in particular,
    each after its class in acud.base.errors, with `; ` between them.
    """

    request: type[Struct]
    reply: type[Struct]
    mutating: bool = False
    deferred: bool = False
    outside: bool = False
    limit_s: float = 0.0
    asked_s: Callable[[Any], float] | None = None
    begins: str | Callable[[Any], str] = ""
    writes: bool = False
    destroys: bool = False
    fleet: FleetRoute = FleetRoute.HOST
    tool: McpTool | None = None
    rest: RestOperation | None = None
    feature: str = ""
    positional: int | None = None
    errors: str = ""

    @property
    def name(self) -> str:
        return name_of(self.request)

    @property
    def effect(self) -> Effect:
        if self.destroys:
            return Effect.DESTROYS
        return Effect.WRITES if self.mutating or self.writes else Effect.READS

    def begun_by(self, request: Struct) -> str:
        """Return what a draining daemon would have to wait for after `request`; "" for nothing."""
        return self.begins if isinstance(self.begins, str) else self.begins(request)

    def total_s(self, request: Struct, timeout_s: float) -> float:
        """Return the time limit of `request`, in seconds, for a client with the limit `timeout_s`."""
        return (self.asked_s(request) if self.asked_s else 0.0) + max(self.limit_s, timeout_s)


def name_of(request: type[Struct]) -> str:
    """Return the tag of a request's type: its name on the wire."""
    tag: Any = request.__struct_config__.tag
    return str(tag)
