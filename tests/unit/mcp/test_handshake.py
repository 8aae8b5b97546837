"""The handshake of a connection: what it answers is what the server would; what it does not take, the server hears."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from acud.errors import InvalidRequest
from acud.paths import resolve
from acud_mcp.handshake import MODERN, VERSIONS, Handshake
from acud_mcp.selection import Selection
from acud_mcp.server import build
from acud_mcp.tool import Options

Message = dict[str, Any]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}


def greeting(version: str, **changed: Any) -> Message:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {"roots": {}}, "clientInfo": client, **changed}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def shaken(*said: Message | bytes, selection: Selection = Selection()) -> tuple[Handshake, bool, list[Message]]:  # noqa: B008
    """What became of an handshake that heard this: itself, whether it goes on, its answers."""
    lines = b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in said)
    writing = io.BytesIO()
    handshake = Handshake(selection, io.BytesIO(lines), writing)
    goes_on = handshake.answer()
    return handshake, goes_on, [json.loads(line) for line in writing.getvalue().splitlines()]


async def served(options: Options, *said: Message) -> list[Message]:
    """What the server itself answers to each request."""
    server = build(options)
    writing, reading = create_context_streams[SessionMessage | Exception](0)
    answering, answers = create_context_streams[SessionMessage](0)
    told = []
    async with writing, reading, answering, answers, anyio.create_task_group() as tasks:
        tasks.start_soon(server.run, reading, answering, server.create_initialization_options())
        for message in said:
            await writing.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False)))
            if "id" in message:
                answer = await answers.receive()
                told.append(json.loads(answer.message.model_dump_json(by_alias=True, exclude_unset=True)))
        tasks.cancel_scope.cancel()
    return told


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [*VERSIONS, "2026-07-28", "nonsense"])
async def test_it_answers_as_the_server_does(version: str) -> None:
    options = Options(resolve({"ACU_HOME": "/nowhere"}), ("core", "memory"), read_only=True, workspace=Path("/w"))
    said = (greeting(version), INITIALIZED, LIST)
    handshake, goes_on, answers = shaken(*said, selection=options.selection)
    assert goes_on
    assert answers == await served(options, *said)
    assert [json.loads(line) for line in handshake.heard] == [greeting(version), INITIALIZED]
    assert handshake.answered == [0]


def modern(number: int, method: str, version: str = MODERN, **params: Any) -> Message:
    meta = {"protocolVersion": version, "clientInfo": {"name": "test", "version": "1"}, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": meta, **params}}


@pytest.mark.asyncio
async def test_it_answers_a_host_without_a_beginning_as_the_server_does() -> None:
    options = Options(resolve({"ACU_HOME": "/nowhere"}))
    said = (modern(1, "server/discover"), modern(2, "tools/list"))
    handshake, goes_on, answers = shaken(*said, selection=options.selection)
    assert goes_on
    assert answers == await served(options, *said)
    assert (handshake.heard, handshake.answered) == ([], [])


@pytest.mark.parametrize(
    "said",
    [
        modern(1, "server/discover", "2027-01-01"),
        modern(1, "tools/list", cursor="x"),
        modern(1, "tools/call", name="help"),
        b"{\n",
        b"[]\n",
        b"\xff\n",
        LIST,
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}},
        greeting("2025-11-25", clientInfo={}),
        greeting("2025-11-25", capabilities={"roots": 5}),
        greeting("2025-11-25") | {"id": True},
        greeting("2025-11-25") | {"id": None},
    ],
)
def test_what_it_does_not_take_is_left_to_the_server(said: Message | bytes) -> None:
    handshake, goes_on, answers = shaken(said, INITIALIZED)
    assert goes_on
    assert answers == []
    assert len(handshake.heard) == 1
    assert json.loads(handshake.reading.readline()) == INITIALIZED


def test_another_request_ends_it() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    handshake, goes_on, answers = shaken(greeting("2025-11-25"), INITIALIZED, ping, LIST)
    assert goes_on
    assert [one["id"] for one in answers] == [0]
    assert json.loads(handshake.heard[-1]) == ping


def test_a_host_that_hangs_up_ends_it() -> None:
    assert shaken(greeting("2025-11-25"), INITIALIZED)[1] is False


def test_an_unknown_tool_is_told_at_once() -> None:
    with pytest.raises(InvalidRequest, match="no tool 'nothing'"):
        shaken(selection=Selection(tools=("nothing",)))
