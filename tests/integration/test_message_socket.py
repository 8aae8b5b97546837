"""Sockets of a fleet's processes, spoken to by libzmq: every message once, by whoever accepted, within bounds."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import zmq

from acud.protocol import codec, zmtp
from acud_fleet import message_socket
from acud_fleet.message_socket import MessageConnection, MessageServer, give_connection, listen_at
from tests.fixtures.patience import LONG_S

pytestmark = pytest.mark.asyncio
CLIENTS = 8


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with listen_at(tmp_path / "s") as found:
        yield found


@pytest.fixture
def client(listener: socket.socket) -> Iterator[Callable[..., zmq.Socket[bytes]]]:
    """Makes sockets of libzmq that are connected to the listener."""
    made_here: list[zmq.Socket[bytes]] = []
    with zmq.Context() as context:

        def make(kind: int = zmq.REQ) -> zmq.Socket[bytes]:
            made: zmq.Socket[bytes] = context.socket(kind)
            made.connect(f"ipc://{listener.getsockname()}")
            made_here.append(made)
            return made

        yield make
        for made in made_here:
            made.close(linger=0)


def _echo(name: bytes = b"") -> Any:
    return lambda peer, data: peer.send(name + data)


async def _asked(client: zmq.Socket[bytes], data: bytes) -> bytes:
    """Return the answer to `data`, b"" when none came."""

    def ask() -> bytes:
        client.send(data)
        return client.recv() if client.poll(int(LONG_S * 1000)) else b""

    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, ask)


async def test_each_is_answered_whatever_its_size(
    listener: socket.socket, client: Callable[..., zmq.Socket[bytes]]
) -> None:
    server = MessageServer(_echo())
    server.accept_at(listener)
    one = client()
    for size in (0, 1, 255, 256, 70_000, codec.MAX_MESSAGE_BYTES - 1):
        data = b"x" * size
        assert await _asked(one, data) == data
    many = client(zmq.DEALER)
    for number in range(500):
        many.send_multipart([b"", str(number).encode()])
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(lambda: [many.recv_multipart()[1] for _ in range(500)])
        assert await asyncio.wrap_future(read) == [str(number).encode() for number in range(500)]
    server.stop()


async def test_who_goes_beyond_the_bounds_or_speaks_another_protocol_costs_nobody_else(
    listener: socket.socket, client: Callable[..., zmq.Socket[bytes]]
) -> None:
    server = MessageServer(_echo())
    server.accept_at(listener)
    large = client(zmq.DEALER)
    large.send_multipart([b"", b"x" * (codec.MAX_MESSAGE_BYTES + 1)])
    loop = asyncio.get_running_loop()
    for words in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" + bytes(8) + b"\x7f" + b"\x03\0CURVE".ljust(54, b"\0")):
        with socket.socket(socket.AF_UNIX) as other:
            other.setblocking(False)
            await loop.sock_connect(other, listener.getsockname())
            await loop.sock_sendall(other, words)
            async with asyncio.timeout(LONG_S):
                while await loop.sock_recv(other, 4096):
                    pass
    subscriber = client(zmq.SUB)
    assert await _asked(client(), b"well") == b"well"
    assert not large.poll(0)
    assert not subscriber.poll(0)
    server.stop()


async def test_who_does_not_read_is_given_up(
    listener: socket.socket, client: Callable[..., zmq.Socket[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_socket, "_UNREAD_BYTES", 1 << 20)
    peers: list[MessageConnection] = []

    def answer(peer: MessageConnection, data: bytes) -> None:
        if data != b"much":
            peer.send(data)
            return
        peers.append(peer)
        for _ in range(64):
            peer.send(bytes(1 << 20))

    server = MessageServer(answer)
    server.accept_at(listener)
    with socket.socket(socket.AF_UNIX) as deaf:  # says what a DEALER says, and reads nothing
        deaf.connect(listener.getsockname())
        deaf.sendall(zmtp.GREETING + zmtp.ready("DEALER") + b"".join(zmtp.frame_message([b"", b"much"])))
        async with asyncio.timeout(LONG_S):
            while not peers or peers[0].is_open:  # noqa: ASYNC110 - the loop's own doing
                await asyncio.sleep(0.01)
    assert await _asked(client(), b"well") == b"well"
    server.stop()


async def test_connections_are_given_to_others_and_kept_where_one_is_gone(
    listener: socket.socket, client: Callable[..., zmq.Socket[bytes]]
) -> None:
    one, other = (MessageServer(_echo(name)) for name in (b"1", b"2"))
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    with own, its:
        other.take_from(its)
        turns = iter(range(1000))
        one.accept_at(listener, lambda accepted, _: next(turns) % 2 == 1 and give_connection(own, accepted))
        clients = [client() for _ in range(CLIENTS)]
        answers = [await _asked(asking, b"") for asking in clients]
        assert answers == [b"1", b"2"] * (CLIENTS // 2)
        other.stop()
        its.close()
        assert [await _asked(asking, b"") for asking in clients] == [b"1"] * CLIENTS
    one.stop()
