"""The handshake of a connection over standard input and output: `initialize` or `server/discover`, and `tools/list`,
answered from a file before the MCP SDK and the tools are loaded, which takes a second where the machine is busy. Hosts
give a server little time to show its tools.

`listing.json` is written by scripts/docs from what the server itself answers; tests hold the two together. Whatever
else a host says ends the handshake: the server then hears all of it, from the first line on, and what was answered here
it answers to nobody.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from acud import __version__
from acud_mcp.selection import Selection, choose

LISTING = Path(__file__).with_name("listing.json")
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol's versions that begin with `initialize`; a host that asks for another one is offered the last."""
MODERN = "2026-07-28"
"""The version without a beginning: each request says what it is and who asks."""
_OF_REQUEST = "io.modelcontextprotocol/"

Message = dict[str, Any]


class ListedTool(NamedTuple):
    """A tool as the file has it; `listed` is what a host sees."""

    name: str
    toolset: str
    reads_only: bool
    needs: list[str]
    listed: Message


class Handshake:
    """`heard`: the lines that the server has to hear still. `answered`: the ids of requests in them that are answered.

    `reading` and `writing` are the connection; take them over when `answer` has returned True.
    """

    def __init__(self, selection: Selection, reading: BinaryIO, writing: BinaryIO) -> None:
        """Raises: InvalidRequest for a toolset or a tool that is none."""
        listing = json.loads(LISTING.read_bytes())
        self._initialized: Message = listing["initialize"]
        self._discovered: Message = listing["discover"]
        self._tools = [row.listed for row in choose([ListedTool(**row) for row in listing["tools"]], selection)]
        self.reading, self.writing = reading, writing
        self.heard: list[bytes] = []
        self.answered: list[Any] = []

    def answer(self) -> bool:
        """Answer until the host has its list of tools or wants something else; False when it hung up before."""
        for line in self._lines():
            message = _request(line)
            if message is None:
                return True
            if message["method"] == "notifications/initialized" and self.answered:
                continue
            result = self._modern(message) if _is_modern(message) else self._legacy(message)
            if result is None:
                return True
            self._write(message["id"], result)
            if message["method"] == "tools/list":
                return True
        return False

    def _legacy(self, message: Message) -> Message | None:
        asked = message["params"]
        if message["method"] == "initialize" and not self.answered and _is_greeting(asked):
            self.answered.append(message["id"])
            wanted = asked["protocolVersion"]
            version = wanted if wanted in VERSIONS else VERSIONS[-1]
            return self._initialized | {"protocolVersion": version, "serverInfo": _server()}
        if message["method"] == "tools/list" and self.answered and "cursor" not in asked:
            self.heard.pop()
            return {"tools": self._tools}
        return None

    def _modern(self, message: Message) -> Message | None:
        told: dict[str, Message] = {"server/discover": self._discovered, "tools/list": {"tools": self._tools}}
        result = told.get(message["method"])
        if result is None or self.answered or message["params"].keys() != {"_meta"}:
            return None
        self.heard.pop()
        complete = {"cacheScope": "private", "resultType": "complete", "ttlMs": 0}
        return result | complete | {"_meta": {f"{_OF_REQUEST}serverInfo": _server()}}

    def _lines(self) -> Iterator[bytes]:
        for line in self.reading:
            self.heard.append(line)
            yield line

    def _write(self, number: Any, result: Message) -> None:
        reply = {"jsonrpc": "2.0", "id": number, "result": result}
        self.writing.write(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.writing.flush()


def _server() -> Message:
    return {"name": "acud", "version": __version__}


def _request(line: bytes) -> Message | None:
    """Return the request or notification in `line` with its `params`, None where it is none that could be answered."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not _is_object(message) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return None
    message.setdefault("params", {})
    named = isinstance(message.get("id"), str | int) and not isinstance(message["id"], bool)
    if not _is_object(message["params"]) or not (named or message["method"] == "notifications/initialized"):
        return None
    return dict(message)


def _is_modern(message: Message) -> bool:
    """Tell whether it is a request of the version `MODERN` that the server would take."""
    meta = message["params"].get("_meta")
    return (
        isinstance(meta, dict)
        and meta.get(f"{_OF_REQUEST}protocolVersion") == MODERN
        and _is_client(meta.get(f"{_OF_REQUEST}clientInfo"))
        and _is_capabilities(meta.get(f"{_OF_REQUEST}clientCapabilities"))
    )


def _is_greeting(asked: Message) -> bool:
    """Tell whether these are parameters of `initialize` that the server would take."""
    return (
        isinstance(asked.get("protocolVersion"), str)
        and _is_capabilities(asked.get("capabilities"))
        and _is_client(asked.get("clientInfo"))
    )


def _is_client(given: Any) -> bool:
    return isinstance(given, dict) and all(isinstance(given.get(name), str) for name in ("name", "version"))


def _is_capabilities(given: Any) -> bool:
    return isinstance(given, dict) and all(map(_is_object, given.values()))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the connection on standard input and output, which from now on nothing else reads or writes: what a
    library prints goes to standard error.
    """
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing
