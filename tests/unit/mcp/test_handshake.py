"""A connection over standard input and output: it answers as the SDK's server does, from its first line on."""

import io
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import anyio
import pytest
from mcp import types
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from acud.base.errors import InvalidRequest
from acud.base.paths import resolve
from acud_mcp.handshake import MODERN, TASKS, VERSIONS, Handshake
from acud_mcp.sdk_server import build
from acud_mcp.selection import Selection
from acud_mcp.server import Methods
from acud_mcp.stdio_server import serve_stdio
from acud_mcp.tool import Options

Message = dict[str, Any]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}
NOWHERE = Options(resolve({"ACU_HOME": "/nowhere"}))


def greeting(version: str, **changed: Any) -> Message:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {"roots": {}}, "clientInfo": client, **changed}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def legacy(number: Any, method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def modern(number: Any, method: str, version: str = MODERN, **params: Any) -> Message:
    meta = {"protocolVersion": version, "clientInfo": {"name": "test", "version": "1"}, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
    return legacy(number, method, _meta=meta, **params)


def line_of(message: Message | bytes) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def shaken(*said: Message | bytes, selection: Selection = Selection(), tasks: bool = True) -> tuple[Any, ...]:  # noqa: B008
    """Return the handshake that heard this, whether it goes on, and its answers."""
    writing = io.BytesIO()
    handshake = Handshake(selection, io.BytesIO(b"".join(map(line_of, said))), writing, tasks_extension=tasks)
    goes_on = handshake.answer_static_requests()
    return handshake, goes_on, [json.loads(line) for line in writing.getvalue().splitlines()]


class Line:
    """The host's side of a connection."""

    def __init__(self, writing: BinaryIO, reading: BinaryIO) -> None:
        self.writing = writing
        self.reading = reading

    def ask(self, message: Message | bytes) -> Message:
        self.writing.write(line_of(message))
        self.writing.flush()
        answer: Message = json.loads(self.reading.readline())
        return answer


@contextmanager
def connect(options: Options = NOWHERE) -> Iterator[Line]:
    """A host's connection to a server as `acud mcp` runs it, without its process."""
    (their_end, our_writing), (our_reading, their_writing) = os.pipe(), os.pipe()
    handshake = Handshake(options.selection, os.fdopen(their_end, "rb"), os.fdopen(their_writing, "wb"))

    def serve() -> None:
        if handshake.answer_static_requests():
            serve_stdio(Methods(options, None), handshake)

    server = threading.Thread(target=serve)
    server.start()
    with os.fdopen(our_reading, "rb") as reading:
        with os.fdopen(our_writing, "wb") as writing:
            yield Line(writing, reading)
        server.join()
        handshake.reading.close()
        handshake.writing.close()


async def serve_all(options: Options, *said: Message) -> list[Message]:
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
    assert answers == await serve_all(options, *said)
    assert handshake.left is None


@pytest.mark.asyncio
async def test_it_answers_a_host_without_a_beginning_as_the_server_does() -> None:
    listen = modern(2, "subscriptions/listen", notifications={"toolsListChanged": True})
    stop = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    said = (modern(1, "server/discover"), listen, stop, modern(3, "tools/list"))
    handshake, goes_on, answers = shaken(*said, selection=NOWHERE.selection)
    assert goes_on
    assert answers == await serve_all(NOWHERE, *said)
    assert answers[0]["result"]["capabilities"]["extensions"] == {TASKS: {}}
    assert answers[1]["method"] == "notifications/subscriptions/acknowledged"
    assert handshake.left is None


def test_it_offers_task_handles_only_where_there_are_some() -> None:
    for without in ({"tasks": False}, {"selection": Selection(tools=("wait_status",))}):
        (answer,) = shaken(modern(1, "server/discover"), **without)[2]
        assert "extensions" not in answer["result"]["capabilities"]


@pytest.mark.asyncio
@pytest.mark.parametrize(("make", "begin"), [(legacy, (greeting(VERSIONS[-1]), INITIALIZED)), (modern, ())])
async def test_all_that_follows_is_answered_as_the_server_does(make: Any, begin: tuple[Message, ...]) -> None:
    said = (
        make(1, "tools/call", name="help", arguments={"topic": "tasks"}),
        make(2, "tools/call", name="wait_status"),
        make(3, "tools/call", name="nothing", arguments={}),
        make(4, "tools/call", name="help", arguments=[]),
        make(5, "tools/call"),
        make(6, "resources/templates/list"),
        make(7, "resources/read", uri="acud://nothing"),
        make(8, "resources/list"),
        make(9, "prompts/list"),
        make(10, "resources/subscribe"),
        make(11, "tasks/get", taskId="x"),
        make("a", "tools/list"),
    )
    expected = await serve_all(NOWHERE, *begin, *said)

    def talk() -> list[Message]:
        with connect() as line:
            asked = [line.ask(message) for message in (*begin[:1], *said)]
            return asked[-len(said) :]

    for answer, wanted in zip(await anyio.to_thread.run_sync(talk), expected[-len(said) :], strict=True):
        assert answer.get("result") == wanted.get("result"), answer
        assert answer.get("error", {}).get("code") == wanted.get("error", {}).get("code"), (answer, wanted)


@pytest.mark.parametrize(("line", "code"), [
    (b"{\n", -32700), (b"\xff\xfe{}\n", -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}\n', -32700), (b"[" * 100_000 + b"\n", -32700),
    (b'{"id":' + b"9" * 5000 + b"}\n", -32700), (b"[]\n", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600), (b"5\n", -32600),
    (b'{"jsonrpc":"1.0","id":7,"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0","id":7}\n', -32600),
    (b'{"jsonrpc":"2.0","id":7,"method":5}\n', -32600),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}\n', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', -32600),
])  # fmt: skip
def test_what_is_no_message_is_answered_and_the_connection_goes_on(line: bytes, code: int) -> None:
    known = 7 if b'"id":7' in line else None
    with connect() as host:
        for _ in range(2):  # before and after the tools are loaded
            answer = host.ask(line)
            assert (answer["error"]["code"], answer["id"]) == (code, known), answer
            assert host.ask(modern(1, "tools/call", name="help"))["result"]["isError"] is False


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (modern(1, "server/discover", "2027-01-01"), -32022),
        (legacy(1, "server/discover"), -32602),
        (LIST, -32602),
        (greeting("2025-11-25", clientInfo={}), -32602),
        (greeting("2025-11-25", capabilities={"roots": 5}), -32602),
        (modern(1, "subscriptions/listen"), -32602),
        (modern(1, "subscriptions/listen", notifications={"resourceSubscriptions": [5]}), -32602),
        (modern(1, "subscriptions/listen", notifications={"taskIds": "x"}), -32602),
        (modern(1, "subscriptions/listen", notifications={"taskIds": ["x"]}), -32021),  # without the extension
    ],
)
def test_what_it_cannot_take_is_refused_and_the_next_is_answered(said: Message, code: int) -> None:
    ping = legacy("p", "ping")
    _, goes_on, answers = shaken(said, ping)
    assert not goes_on
    assert [answers[0]["error"]["code"], answers[0]["id"]] == [code, said["id"]]
    assert answers[1]["result"] == {}


def test_another_request_ends_it() -> None:
    call = legacy(1, "tools/call", name="help")
    handshake, goes_on, answers = shaken(greeting("2025-11-25"), INITIALIZED, call, LIST)
    assert goes_on
    assert [one["id"] for one in answers] == [0]
    assert handshake.left.method == "tools/call"
    assert json.loads(handshake.reading.readline()) == LIST


def test_a_host_that_hangs_up_ends_it() -> None:
    assert shaken(greeting("2025-11-25"), INITIALIZED)[1] is False


def test_an_unknown_tool_is_told_at_once() -> None:
    with pytest.raises(InvalidRequest, match="no tool 'nothing'"):
        shaken(selection=Selection(tools=("nothing",)))


def test_a_lone_surrogate_is_answered() -> None:
    with connect() as host:
        answer = host.ask(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n')
        assert answer == {"jsonrpc": "2.0", "id": "\ud800", "result": {}}
