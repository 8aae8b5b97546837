"""The memory tools: `memory_search`, `memory_read`, `memory_append`.

They read and write notes in files under ACU_WORKSPACE, and nothing outside that directory.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import anyio.to_thread
import msgspec
from msgspec import Meta

from acud.base.errors import NotFound, Refused
from acud.protocol.requests.command import Effect
from acud_mcp.tool import Tool, ToolCall

SUFFIXES = (".md", ".txt")
MAX_FILE_BYTES = 1 << 20
_MAX_FILES = 2000
_MAX_SNIPPET = 300


class Snippet(msgspec.Struct, frozen=True):
    """A line that matched; `line` counts from 1."""

    path: str
    line: int
    text: str


class Workspace:
    """The directory `root`, read and appended to by relative path."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise NotFound(f"ACU_WORKSPACE {root} is not a directory", hint="create it, or set another")
        self._root = root.resolve()

    def read(self, name: str) -> list[str]:
        """Return the lines of a file. Raises: NotFound or Refused."""
        path = self._resolve_place(name)
        return self._read_lines(path, name)

    def append(self, name: str, note: str) -> None:
        """Add `note` and a line end to a file, making it and its folders as needed. Raises: Refused."""
        path = self._resolve_place(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(_open_file(self._resolve_place(name), flags, name), "ab") as file:
            size = os.fstat(file.fileno()).st_size
            data = (note.rstrip("\n") + "\n").encode("utf-8", "replace")
            if size + len(data) > MAX_FILE_BYTES:
                raise Refused(f"{name!r} would grow over {MAX_FILE_BYTES} bytes", hint="append to another file")
            file.write(data)

    def search(self, query: str, limit: int) -> list[Snippet]:
        """Return the lines that hold most of the words of `query`, best first."""
        words = {word for word in query.casefold().split() if word}
        found: list[tuple[int, Snippet]] = []
        for path in self._list_files():
            name = str(path.relative_to(self._root))
            for number, line in enumerate(self._read_lines(path, name), 1):
                folded = line.casefold()
                score = sum(word in folded for word in words)
                if score:
                    found.append((score, Snippet(name, number, line.strip()[:_MAX_SNIPPET])))
        found.sort(key=lambda hit: -hit[0])
        return [snippet for _, snippet in found[:limit]]

    def _resolve_place(self, name: str) -> Path:
        try:
            path = (self._root / name).resolve()
        except (OSError, RuntimeError, ValueError) as fault:
            raise Refused(f"{name[:100]!r} is not a usable path", hint="give a path such as MEMORY.md") from fault
        inside = path.is_relative_to(self._root)
        relative = path.relative_to(self._root).parts if inside else ()
        if not relative or any(part.startswith(".") for part in relative):
            raise Refused(f"{name[:100]!r} is outside the workspace", hint="give a relative path such as MEMORY.md")
        if path.suffix not in SUFFIXES:
            raise Refused(f"{name[:100]!r} is not a note", hint=f"notes end in {' or '.join(SUFFIXES)}")
        return path

    def _list_files(self) -> Iterator[Path]:
        left = _MAX_FILES
        for folder, folders, names in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(folder) / name
                if path.suffix in SUFFIXES and not path.is_symlink() and left > 0:
                    left -= 1
                    yield path

    def _read_lines(self, path: Path, name: str) -> list[str]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(_open_file(path, flags, name), "rb") as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8", "replace").splitlines()


def _open_file(path: Path, flags: int, name: str) -> int:
    try:
        opened = os.open(path, flags, 0o600)
    except FileNotFoundError:
        raise NotFound(f"there is no note {name!r}", hint="memory_search finds notes") from None
    except OSError as fault:
        raise Refused(f"cannot open {name!r}: {fault.strerror}", hint="name a plain file") from fault
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise Refused(f"{name!r} is not a plain file", hint="name a plain file")
    return opened


NotePath = Annotated[str, Meta(min_length=1, max_length=1000)]

_MAX_READ_CHARACTERS = 20_000


class MemorySearch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1, max_length=1000)]
    max_results: Annotated[int, Meta(ge=1, le=100)] = 10


class MemorySearchView(msgspec.Struct, frozen=True):
    """Lines that hold most of the words, best first."""

    snippets: tuple[Snippet, ...]


class MemoryRead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: NotePath = "MEMORY.md"
    offset: Annotated[int, Meta(ge=1)] = 1
    limit: Annotated[int, Meta(ge=1, le=2000)] = 100


class MemoryReadView(msgspec.Struct, frozen=True):
    """Lines `offset` and following of a note that has `lines` in all."""

    path: str
    offset: int
    lines: int
    content: str


class MemoryAppend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    note: Annotated[str, Meta(min_length=1, max_length=20_000)]
    path: NotePath = "MEMORY.md"


class MemoryAppendView(msgspec.Struct, frozen=True):
    """The note is kept."""

    ok: bool
    path: str


def _get_workspace(call: ToolCall) -> Workspace:
    if call.options.workspace is None:
        raise Refused("no workspace is set", hint="set ACU_WORKSPACE for this server")
    return Workspace(call.options.workspace)


async def memory_search(call: ToolCall, args: MemorySearch) -> MemorySearchView:
    found = await anyio.to_thread.run_sync(_get_workspace(call).search, args.query, args.max_results)
    return MemorySearchView(tuple(found))


async def memory_read(call: ToolCall, args: MemoryRead) -> MemoryReadView:
    lines = await anyio.to_thread.run_sync(_get_workspace(call).read, args.path)
    part = "\n".join(lines[args.offset - 1 : args.offset - 1 + args.limit])
    return MemoryReadView(args.path, args.offset, len(lines), part[:_MAX_READ_CHARACTERS])


async def memory_append(call: ToolCall, args: MemoryAppend) -> MemoryAppendView:
    await anyio.to_thread.run_sync(_get_workspace(call).append, args.path, args.note)
    return MemoryAppendView(ok=True, path=args.path)


TOOLS = (
    Tool(
        "memory_search",
        "memory",
        "Search your notes.",
        arguments=MemorySearch,
        result=MemorySearchView,
        run=memory_search,
        hidden=("max_results",),
        params={"max_results": "at most so many"},
        wants="workspace",
    ),
    Tool(
        "memory_read",
        "memory",
        "Read a note.",
        arguments=MemoryRead,
        result=MemoryReadView,
        run=memory_read,
        hidden=("offset", "limit"),
        params={"offset": "first line"},
        wants="workspace",
    ),
    Tool(
        "memory_append",
        "memory",
        "Add to a note.",
        arguments=MemoryAppend,
        result=MemoryAppendView,
        run=memory_append,
        wants="workspace",
        own_effect=Effect.WRITES,
    ),
)
