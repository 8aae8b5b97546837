"""A loopback HTTP server that plays a model's API with answers that a test hands it, well formed or not."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from tests.fixtures.certificates import Pair

T = TypeVar("T")
Writer = asyncio.StreamWriter
Serve = Callable[[asyncio.StreamReader, Writer], Coroutine[Any, Any, None]]


class Connections:
    """The connections of a test's server, each served by a task of its own; none outlives `aclose`.

    A task is known from the moment its connection is made, so that no close comes between the two.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._open: dict[Writer, asyncio.Task[None]] = {}

    def accept(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self._open[writer] = asyncio.create_task(self._run(reader, writer))

    async def aclose(self) -> None:
        """Cut all connections, and return when they are closed."""
        for writer, task in self._open.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._open.values(), return_exceptions=True)
        await asyncio.gather(*(writer.wait_closed() for writer in self._open), return_exceptions=True)

    async def _run(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()


class Asked(NamedTuple):
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


class Answer(NamedTuple):
    """What to send: a value as JSON, or bytes as they are; or `play`, which writes to the connection itself."""

    value: Any = None
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    play: Callable[[Writer], Awaitable[None]] | None = None


class LoopbackServer:
    """An HTTP server whose `respond` answers each request; `arrived` is set by the first. An async context manager."""

    def __init__(self, certificate: Pair | None = None) -> None:
        self._tls = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate.cert, certificate.key)
        self.arrived = asyncio.Event()
        self._connections = Connections(self._serve)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connections.accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.close()
        await self._connections.aclose()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            method, path, _ = head[0].split()
            await self.respond(Asked(method, path, headers, raw), writer)

    async def respond(self, asked: Asked, writer: Writer) -> None:
        raise NotImplementedError


class ModelServer(LoopbackServer):
    """Answers a POST with the next of `answers`, the last one again and again; a GET by path from `gets`, else 404.

    `certificate`: over TLS. `posts` and `asked` (all) hold what arrived. An async context manager.
    """

    def __init__(
        self, *answers: Answer, gets: dict[str, Answer] | None = None, certificate: Pair | None = None
    ) -> None:
        super().__init__(certificate)
        self.answers = list(answers)
        self.gets = gets or {}
        self.asked: list[Asked] = []

    @property
    def posts(self) -> list[Asked]:
        return [one for one in self.asked if one.method == "POST"]

    async def respond(self, asked: Asked, writer: Writer) -> None:
        self.asked.append(asked)
        self.arrived.set()
        await send(writer, self._answer(asked.method, asked.path))

    def _answer(self, method: str, path: str) -> Answer:
        if method == "GET":
            return self.gets.get(path, Answer({"error": {"message": "no such entry"}}, 404))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def send(writer: Writer, answer: Answer) -> None:
    if answer.play is not None:
        await answer.play(writer)
        return
    body = answer.value if isinstance(answer.value, bytes) else json.dumps(answer.value).encode()
    lines = [f"HTTP/1.1 {answer.status} X", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


async def reset(writer: Writer) -> None:
    writer.transport.abort()


async def hang(writer: Writer) -> None:
    await asyncio.Event().wait()


async def trickle(writer: Writer) -> None:
    """Send a byte now and then for ever: every read succeeds, and the answer never comes."""
    writer.write(b"HTTP/1.1 200 X\r\ncontent-length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def cut(writer: Writer) -> None:
    writer.write(b'HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n{"choices": [')
    await writer.drain()
    writer.transport.close()


S = TypeVar("S", bound=LoopbackServer)


class ServerThread(Generic[S]):
    """A `LoopbackServer` in a thread of its own, for tests that block. A context manager; `stop` ends it before."""

    def __init__(self, make: Callable[[], S]) -> None:
        self._make = make
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        self.server: S = self._run(self._start())
        self.url = self.server.url
        return self

    async def _start(self) -> S:
        return await self._make().__aenter__()

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop serving, cut every connection. Stopping twice is harmless."""
        if not self._loop.is_closed():
            self._run(self.server.__aexit__(None, None, None))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


class ModelThread(ServerThread[ModelServer]):
    """A `ModelServer` with these answers."""

    def __init__(self, *answers: Answer, gets: dict[str, Answer] | None = None) -> None:
        super().__init__(lambda: ModelServer(*answers, gets=gets))
