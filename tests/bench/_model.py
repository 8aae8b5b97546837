"""A model behind OpenAI's chat completions on loopback that takes its time and never holds up another call.

It runs in a process of its own and answers as pictures say: YES where the lamp of `tests.fixtures.painter` is green.
It takes longer over questions about a "slow lamp".
Each picture is decoded once. When it answered YES to which question is told on request, by CLOCK_MONOTONIC.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import re
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any, NamedTuple, Self

import simplejpeg

from tests.fixtures.painter import GREEN, LAMP

_NUMBER = re.compile(r"lamp number (\d+)")
_WIDTH_PX = 1280


class Model:
    """The model; `answer` is all that it knows."""

    def __init__(self, delay_ms: float, slow_ms: float = 0.0) -> None:
        self._delay_s, self._slow_s = delay_ms / 1000, slow_ms / 1000
        self._seen: dict[str, bool] = {}
        self._said: dict[int, float] = {}
        self._calls = 0
        self._heard_s = self._woken_s = 0.0

    async def serve(self) -> None:
        """Answer until the process ends; print the port."""
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 24, backlog=512)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                sizes = [line.partition(":")[2] for line in head if line.lower().startswith("content-length:")]
                body = await reader.readexactly(int(sizes[0]) if sizes else 0)
                answer = json.dumps(await self._answer(head[0].split()[1], body)).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(answer), answer))

    async def _answer(self, path: str, body: bytes) -> Any:
        if path == "/said":
            return {"said": self._said, "calls": self._calls, "heard_s": self._heard_s, "woken_s": self._woken_s}
        if path == "/wake":
            self._woken_s = time.monotonic()
            return {}
        if path == "/echo":
            return {}
        if not body:
            return {"object": "list", "data": [{"id": "lamp", "object": "model"}]}
        self._calls += 1
        self._heard_s = began = time.monotonic()
        content = json.loads(body)["messages"][-1]["content"]
        text = " ".join(part["text"] for part in content if part["type"] == "text")
        green = next(self._green(part["image_url"]["url"]) for part in content if part["type"] == "image_url")
        slow = "slow lamp" in text
        await asyncio.sleep(max(0.0, (self._slow_s if slow else self._delay_s) - (time.monotonic() - began)))
        if green and not slow:
            self._said[int(_NUMBER.findall(text)[-1])] = time.monotonic()
        message = {"role": "assistant", "content": "YES: green" if green and not slow else "NO: dark"}
        return {"model": "lamp", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    def _green(self, url: str) -> bool:
        if url not in self._seen:
            pixels = simplejpeg.decode_jpeg(base64.b64decode(url.partition(",")[2]), colorspace="RGB")
            part = pixels.shape[1] / _WIDTH_PX
            red, green, _ = pixels[int((LAMP.y + LAMP.h / 2) * part), int((LAMP.x + LAMP.w / 2) * part)].tolist()
            self._seen[url] = green > 2 * red + 60
        return self._seen[url]


class Said(NamedTuple):
    """CLOCK_MONOTONIC in seconds when it last said YES to each lamp, heard a question and got a wake; and its calls."""

    said: dict[int, float]
    calls: int
    heard_s: float
    woken_s: float


class ModelProcess:
    """The model in its process. Use in `with`."""

    def __init__(self, delay_ms: float, slow_ms: float = 0.0) -> None:
        command = [
            sys.executable,
            "-c",
            f"import asyncio; from tests.bench._model import Model; asyncio.run(Model({delay_ms}, {slow_ms}).serve())",
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def said(self) -> Said:
        told = self.ask("/said")
        return Said(**told | {"said": {int(number): at for number, at in told["said"].items()}})

    def ask(self, path: str, body: bytes = b"") -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request("POST", path, body)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    @property
    def settings(self) -> str:
        backend = f'[backends.vllm]\nurl = "http://127.0.0.1:{self.port}"\nmodel = "lamp"\nlocal = true\n'
        return f'[vision]\nbackend = "vllm"\n{backend}'


def scripted_settings(delay_ms: float = 200) -> str:
    """Return the settings of a daemon with a judge inside it that says yes once the lamp's middle is green."""
    x, y = LAMP.x + LAMP.w // 2, LAMP.y + LAMP.h // 2
    script = {"delay_ms": delay_ms, "rules": [{"pixel": [x, y, GREEN], "answer": "yes"}], "default": "no"}
    return f"[vision]\nbackend = \"scripted\"\nscripted = '{json.dumps(script)}'\n"
