"""A loopback HTTP server that plays Ollama's API, well or badly, for tests of the judge behind it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from tests.integration.model_server import Connections

Manner = Literal["normal", "500", "hang", "garbage", "not_json", "empty", "reset", "trickle", "flood", "404"]

T = TypeVar("T")

GARBAGE = "Yesterday's report says so."


class OllamaServer:
    """Answers /api/chat in a `manner` that a test may change; `asked` holds the bodies. An async context manager."""

    def __init__(self, *models: str, manner: Manner = "normal", words: str = "YES: the bar is full") -> None:
        self.models = list(models)
        self.manner: Manner = manner
        self.words = words
        self.asked: list[dict[str, Any]] = []
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()
        self.release.set()
        self.at_once = self.most_at_once = 0
        self._connections = Connections(self._serve)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connections.accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.close()
        await self._connections.aclose()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            path, body = head[0].split()[1], await _body(reader, head)
            await self._respond(path, body, writer)

    async def _respond(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path == "/api/tags":
            return await _send(writer, {"models": [{"name": name, "size": 1} for name in self.models]})
        if path == "/api/version":
            return await _send(writer, {"version": "0.12.3"})
        self.asked.append(json.loads(body))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.arrived.set()
        await self.release.wait()
        self.at_once -= 1
        return await self._answer(writer)

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        match self.manner:
            case "500":
                await _send(writer, {"error": "out of memory"}, 500)
            case "404":
                await _send(writer, {"error": "model not found"}, 404)
            case "hang":
                await asyncio.Event().wait()
            case "reset":
                writer.transport.abort()
            case "trickle":
                await _trickle(writer)
            case "not_json":
                await _send_bytes(writer, b"<html>proxy</html>")
            case "flood":
                await _send_bytes(writer, b" " * (2 << 20))
            case _:
                words = {"garbage": GARBAGE, "empty": ""}.get(self.manner, self.words)
                message = {"role": "assistant", "content": words}
                await _send(writer, {"message": message, "done": True, "prompt_eval_count": 700, "eval_count": 9})


async def _head(reader: asyncio.StreamReader) -> list[str]:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    except asyncio.IncompleteReadError:
        return []


async def _body(reader: asyncio.StreamReader, head: list[str]) -> bytes:
    lengths = [int(line.split(":")[1]) for line in head if line.lower().startswith("content-length:")]
    return await reader.readexactly(lengths[0]) if lengths else b""


async def _send(writer: asyncio.StreamWriter, value: Any, status: int = 200) -> None:
    await _send_bytes(writer, json.dumps(value).encode(), status)


async def _send_bytes(writer: asyncio.StreamWriter, body: bytes, status: int = 200) -> None:
    writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body)
    await writer.drain()


async def _trickle(writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then for ever: every read succeeds, and the answer never comes."""
    writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


class OllamaThread:
    """An `OllamaServer` in a thread of its own, for tests that block. A context manager; leaving it stops it."""

    def __init__(self, *models: str) -> None:
        self._models = models
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> OllamaServer:
        self._thread.start()
        self.server = OllamaServer(*self._models)
        return self._run(self.server.__aenter__())

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
