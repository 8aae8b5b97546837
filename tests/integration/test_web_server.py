"""Clients that hold a server up: each is ended, and the others are served meanwhile. Over real sockets."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from acud.config.http_listeners import bind
from acud_http.server import ConnectionLimit, Patience, Server

MOST, EACH = 40, 30
_PATIENCE_S = 2.0
"""Longer than it takes who does ask to send its head, on a machine that others use."""
HELD_S = 60.0
"""A test gives up after so long."""


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """`/flood` never ends its answer, another WebSocket is an echo, `/hold` ends when it is hung up on, else `ok`."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while scope["path"] == "/flood":
            await send({"type": "websocket.send", "bytes": bytes(100_000)})
        await send({"type": "websocket.send", "text": (await receive())["text"]})
        return
    bodies = {"/flood": flood, "/hold": hold}
    answer = StreamingResponse(bodies[scope["path"]]()) if scope["path"] in bodies else Response("ok")
    await answer(scope, receive, send)


async def flood() -> AsyncIterator[bytes]:
    while True:
        yield bytes(100_000)


async def hold() -> AsyncIterator[bytes]:
    yield b"held"
    await asyncio.Event().wait()


class Running:
    """A server in a thread of its own."""

    def __init__(self) -> None:
        self.connection_limit = ConnectionLimit(MOST, EACH)
        self.socket = bind("127.0.0.1", 0, "web")
        self.port: int = self.socket.getsockname()[1]
        patience = Patience(head_s=_PATIENCE_S, read_s=_PATIENCE_S)
        self._server = Server(application, self.socket, MOST + 1, self.connection_limit, patience, websockets=True)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._server.run()))
        self._thread.start()

    def stop(self) -> None:
        self._server.stop()
        self._thread.join(HELD_S)
        assert not self._thread.is_alive()
        self.socket.close()

    def connect(self, sent: bytes = b"", buffer: int = 0) -> socket.socket:
        made = socket.socket()
        if buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        made.settimeout(HELD_S)
        made.connect(("127.0.0.1", self.port))
        made.sendall(sent)
        return made

    def is_well(self) -> bool:
        with self.connect(get("/")) as asking:
            return asking.recv(65536).startswith(b"HTTP/1.1 200 OK")


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def ended(connected: socket.socket) -> bool:
    """Read until the other side ends it; whether it did so before the test gives up."""
    with connected:
        try:
            while connected.recv(1 << 20):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        return True


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.stop()


def test_who_does_not_read_an_answer_is_cut(running: Running) -> None:
    waiting = running.connect(get("/flood"), buffer=4096)
    assert waiting.recv(1, socket.MSG_PEEK)  # it is answered, and nothing was read
    until_empty(running)
    waiting.close()
    assert running.is_well()


def test_a_websocket_that_does_not_read_is_cut(running: Running) -> None:
    waiting = running.connect(buffer=4096)
    with connect("ws://localhost/flood", sock=waiting, max_queue=1, proxy=None, open_timeout=HELD_S) as opened:
        until_empty(running)
        with pytest.raises(ConnectionClosed):
            read_on(opened)
    assert running.is_well()


def test_a_websocket_stays_beyond_the_limit_for_heads(running: Running) -> None:
    with connect(f"ws://127.0.0.1:{running.port}", proxy=None, open_timeout=HELD_S) as opened:
        assert ended(running.connect())  # who came later and never asked has reached that limit
        opened.send("still there")
        assert opened.recv(HELD_S) == "still there"


SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"0\r\n\r\n" + SMUGGLED
TWO_LENGTHS = [
    (b"1.1", b"Content-Length: 5\r\nTransfer-Encoding: chunked"),
    (b"1.1", b"Transfer-Encoding: chunked\r\nContent-Length: %d" % len(CHUNKED)),
    (b"1.1", b"transfer-encoding: Chunked\r\nCONTENT-LENGTH: 0"),
    (b"1.1", b"Content-Length: 5\r\nContent-Length: 6"),
    (b"1.1", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
    (b"1.0", b"Transfer-Encoding: chunked\r\nConnection: keep-alive"),
]


@pytest.mark.parametrize(("version", "lengths"), TWO_LENGTHS, ids=range(len(TWO_LENGTHS)))
@pytest.mark.parametrize("before", [b"", get("/")], ids=["first", "pipelined"])
def test_a_request_of_two_lengths_is_refused_and_its_connection_closed(
    running: Running, before: bytes, version: bytes, lengths: bytes
) -> None:
    head = b"POST / HTTP/%s\r\nHost: localhost\r\n%s\r\n\r\n" % (version, lengths)
    with running.connect(before + head + CHUNKED) as asking:
        told = b""
        while part := asking.recv(65536):
            told += part
    assert re.findall(rb"HTTP/1.1 (\d+) ", told) == [*([b"200"] if before else []), b"400"]
    assert running.is_well()


def read_on(opened: ClientConnection) -> None:
    while True:
        opened.recv(HELD_S)


def until_empty(running: Running) -> None:
    for _ in range(int(HELD_S / 0.02)):
        if not len(running.connection_limit):
            return
        threading.Event().wait(0.02)
    pytest.fail(f"{len(running.connection_limit)} connections are still held")


def test_idle_ones_make_room(running: Running) -> None:
    idle = [running.connect() for _ in range(200)]
    assert running.is_well()
    assert len(running.connection_limit) <= EACH
    assert all(ended(one) for one in idle)


def test_where_all_are_busy_the_next_is_refused_until_one_goes(running: Running) -> None:
    busy = [running.connect(get("/hold")) for _ in range(EACH)]
    for one in busy:
        assert one.recv(65536)
    assert ended(running.connect())
    assert running.connection_limit.refused == 1
    for one in busy:
        one.close()
    until_empty(running)
    assert running.is_well()
