"""HTTP/1.1 over real sockets: connections used again, every way in which a body ends, every fault by httpx's name."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from acud.evaluator.judges.plain_http import PlainTransport

pytestmark = pytest.mark.asyncio

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nyes"


class _Server:
    """Answers each request by `answer`; `connections` were made, `ended` of them are over."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.url = ""
        self.connections = 0
        self.ended = asyncio.Semaphore(0)
        self.bodies: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
                self.bodies.append(await reader.readexactly(size))
                await self._answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.ended.release()


def _says(data: bytes, *, close: bool = False) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        if close:
            writer.close()

    return answer


@asynccontextmanager
async def _ask(
    answer: Answer, *, most_idle: int = 8, kept_s: float = 60.0
) -> AsyncIterator[tuple[_Server, httpx.AsyncClient]]:
    made = _Server(answer)
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    transport = PlainTransport(most_idle=most_idle, kept_s=kept_s)
    async with listening, httpx.AsyncClient(transport=transport, trust_env=False) as client:
        yield made, client


async def test_calls_at_once_have_a_connection_each_and_later_ones_use_these() -> None:
    async with _ask(_says(_OK)) as (server, client):
        found = await asyncio.gather(*(client.post(server.url, content=b"%d" % n) for n in range(5)))
        assert [one.text for one in found] == ["yes"] * 5
        assert sorted(server.bodies) == [b"0", b"1", b"2", b"3", b"4"]
        await asyncio.gather(*(client.post(server.url, content=b"again") for _ in range(5)))
        assert server.connections == 5


async def test_no_more_connections_wait_than_allowed_nor_for_longer() -> None:
    async with _ask(_says(_OK), most_idle=2) as (server, client):
        await asyncio.gather(*(client.post(server.url) for _ in range(5)))
        for _ in range(3):
            await server.ended.acquire()
    async with _ask(_says(_OK), kept_s=0.0) as (server, client):
        await client.post(server.url)
        await client.post(server.url)
        assert server.connections == 2
        await server.ended.acquire()


@pytest.mark.parametrize(("said", "close"), [
    (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nye\r\n1\r\ns\r\n0\r\n\r\n", False),
    (b"HTTP/1.1 200 OK\r\n\r\nyes", True),
    (b"HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nyes", True),
    (b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + _OK, False),
    (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nyes", True),
], ids=["chunked", "until the end", "http 1.0", "early hints", "connection: close"])  # fmt: skip
async def test_a_body_ends_as_its_server_says(said: bytes, *, close: bool) -> None:
    async with _ask(_says(said, close=close)) as (server, client):
        assert (await client.post(server.url, content=b"?")).text == "yes"
        assert (await client.post(server.url, content=b"?")).text == "yes"
        assert server.connections == (2 if close else 1)


async def test_a_connection_that_its_server_closed_is_not_used_again() -> None:
    async with _ask(_says(_OK, close=True)) as (server, client):
        for _ in range(3):
            assert (await client.post(server.url)).text == "yes"
            await server.ended.acquire()
            for _ in range(5):
                await asyncio.sleep(0)  # its end is in the socket by now, and is read here


async def test_a_large_question_and_a_large_answer_arrive_whole() -> None:
    large = bytes(range(256)) * 8192
    async with _ask(_says(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(large), large))) as (
        server,
        client,
    ):
        assert (await client.post(server.url, content=large)).content == large
        assert server.bodies == [large]


async def test_an_answer_counts_that_comes_before_the_question_was_read() -> None:
    refusing = asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 3\r\n\r\nbig")
        await writer.drain()
        await refusing.wait()
        writer.close()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"

    async def parts() -> AsyncIterator[bytes]:
        yield b"x" * 65536

    async with listening, httpx.AsyncClient(transport=PlainTransport(most_idle=1, kept_s=1), trust_env=False) as client:
        answer = await client.post(url, content=parts(), headers={"content-length": "65536"})
        assert (answer.status_code, answer.text) == (413, "big")
        refusing.set()


@pytest.mark.parametrize(("said", "close", "fault"), [
    (b"", True, httpx.RemoteProtocolError),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nyes", True, httpx.RemoteProtocolError),
    (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", False, httpx.RemoteProtocolError),
    (b"HTTP/1.1 200 OK\r\nx: " + b"y" * (200 << 10) + b"\r\n\r\n", False, httpx.RemoteProtocolError),
], ids=["nothing", "cut off", "not http", "endless head"])  # fmt: skip
async def test_an_answer_that_is_none_is_a_fault_and_ends_its_connection(
    said: bytes, fault: type[Exception], *, close: bool
) -> None:
    async with _ask(_says(said, close=close)) as (server, client):
        with pytest.raises(fault):
            await client.post(server.url)
        await server.ended.acquire()


async def test_a_server_that_takes_no_connection_is_a_fault_in_time() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):  # more than its queue holds: the next one gets no answer at all
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        transport = PlainTransport(most_idle=1, kept_s=1)
        async with httpx.AsyncClient(transport=transport, timeout=0.2, trust_env=False) as client:
            with pytest.raises(httpx.ConnectTimeout, match=r"no connection within 0\.2 s"):
                await client.post(f"http://127.0.0.1:{full.getsockname()[1]}")


async def test_a_call_that_is_given_up_ends_its_connection_and_the_next_one_has_another() -> None:
    heard, go = asyncio.Event(), asyncio.Event()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set()
        await go.wait()
        writer.write(_OK)

    async with _ask(answer) as (server, client):
        call = asyncio.create_task(client.post(server.url))
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        go.set()
        await server.ended.acquire()
        assert (await client.post(server.url)).text == "yes"
        assert server.connections == 2


async def test_a_body_that_is_left_ends_its_connection() -> None:
    async with _ask(_says(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nyes")) as (server, client):
        async with client.stream("POST", server.url) as response:
            assert response.status_code == 200
        await server.ended.acquire()
