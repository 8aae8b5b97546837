"""The handshake of a connection over standard input and output: `initialize` and `tools/list`, answered from a file
before the MCP SDK and the tools are loaded, which takes a second where the machine is busy. Hosts give a server little
time to show its tools.

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
            method, asked = message.get("method"), message.get("params", {})
            if method == "initialize" and not self.answered and _is_greeting(asked):
                self.answered.append(message["id"])
                wanted = asked["protocolVersion"]
                version = wanted if wanted in VERSIONS else VERSIONS[-1]
                server = {"name": "acud", "version": __version__}
                self._write(message, self._initialized | {"protocolVersion": version, "serverInfo": server})
            elif method == "notifications/initialized" and self.answered:
                continue
            elif method == "tools/list" and self.answered and not asked.get("cursor"):
                self.heard.pop()
                self._write(message, {"tools": self._tools})
                return True
            else:
                return True
        return False

    def _lines(self) -> Iterator[bytes]:
        for line in self.reading:
            self.heard.append(line)
            yield line

    def _write(self, message: Message, result: Message) -> None:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self.writing.write(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.writing.flush()


def _request(line: bytes) -> Message | None:
    """Return the request or notification in `line`, None where it is none that could be answered here."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not _is_object(message.get("params", {})):
        return None
    named = isinstance(message.get("id"), str | int) and not isinstance(message["id"], bool)
    return message if named or message.get("method") == "notifications/initialized" else None


def _is_greeting(asked: Message) -> bool:
    """Tell whether these are parameters that the server would take."""
    client = asked.get("clientInfo")
    return (
        isinstance(asked.get("protocolVersion"), str)
        and _is_object(asked.get("capabilities"))
        and all(map(_is_object, asked["capabilities"].values()))
        and isinstance(client, dict)
        and all(isinstance(client.get(name), str) for name in ("name", "version"))
    )


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
