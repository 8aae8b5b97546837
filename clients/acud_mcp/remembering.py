"""The memory tools: `memory_search`, `memory_read`, `memory_append`."""

from __future__ import annotations

from typing import Annotated

import anyio.to_thread
import msgspec
from msgspec import Meta

from acud.errors import Refused
from acud_mcp.tool import Asking
from acud_mcp.workspace import Snippet, Workspace

Path = Annotated[str, Meta(min_length=1, max_length=1000)]

_MAX_READ_CHARACTERS = 20_000


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `memory_search`."""

    query: Annotated[str, Meta(min_length=1, max_length=1000)]
    max_results: Annotated[int, Meta(ge=1, le=100)] = 10


class SearchView(msgspec.Struct, frozen=True):
    """Lines that hold most of the words, best first."""

    snippets: tuple[Snippet, ...]


class Read(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `memory_read`."""

    path: Path = "MEMORY.md"
    offset: Annotated[int, Meta(ge=1)] = 1
    limit: Annotated[int, Meta(ge=1, le=2000)] = 100


class ReadView(msgspec.Struct, frozen=True):
    """Lines `offset` and following of a note that has `lines` in all."""

    path: str
    offset: int
    lines: int
    content: str


class Append(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `memory_append`."""

    note: Annotated[str, Meta(min_length=1, max_length=20_000)]
    path: Path = "MEMORY.md"


class AppendView(msgspec.Struct, frozen=True):
    """The note is kept."""

    ok: bool
    path: str


def _workspace(call: Asking) -> Workspace:
    if call.options.workspace is None:
        raise Refused("no workspace is set", hint="set ACU_WORKSPACE for this server")
    return Workspace(call.options.workspace)


async def memory_search(call: Asking, given: Search) -> SearchView:
    """Search the notes."""
    found = await anyio.to_thread.run_sync(_workspace(call).search, given.query, given.max_results)
    return SearchView(tuple(found))


async def memory_read(call: Asking, given: Read) -> ReadView:
    """Read a part of a note."""
    lines = await anyio.to_thread.run_sync(_workspace(call).read, given.path)
    part = "\n".join(lines[given.offset - 1 : given.offset - 1 + given.limit])
    return ReadView(given.path, given.offset, len(lines), part[:_MAX_READ_CHARACTERS])


async def memory_append(call: Asking, given: Append) -> AppendView:
    """Add to a note."""
    await anyio.to_thread.run_sync(_workspace(call).append, given.path, given.note)
    return AppendView(ok=True, path=given.path)
